#!/bin/sh
# The LaTeX tables of `report` as their user meets them: a document that includes one compiles,
# whatever stands in the names of arms.
#   latex.sh PROGRAM
program=$1
command -v pdflatex >/dev/null || {
  echo "skipped: there is no pdflatex"
  exit 77
}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cat > "$folder/arms.ini" <<'INI'
model = table
task = positions
[arm.plain]
drafter = stepwise
[arm.strange]
drafter = self
label = 100 % of $x_1$ & {y}^2 # ~ \alpha "quoted" <|>
[run]
samples = 20
[sweep]
arm = plain, strange
decode.draft_length = 2, 3
baseline = arm=plain
INI
"$program" run "$folder/arms.ini" --out "$folder/arms.h5" > "$folder/log" 2>&1 || {
  cat "$folder/log"
  exit 1
}
# compiles NAME ARGUMENT...: the table that `report` prints with these arguments.
compiles() {
  name=$1
  shift
  "$program" report "$folder/arms.h5" --format latex "$@" > "$folder/$name.table" || exit 1
  {
    printf '\\documentclass{article}\n'
    sed -n 's/^% \(\\usepackage.*\)/\1/p' "$folder/$name.table"
    printf '\\begin{document}\n'
    cat "$folder/$name.table"
    printf '\\end{document}\n'
  } > "$folder/$name.tex"
  (cd "$folder" && pdflatex -halt-on-error -interaction=nonstopmode "$name.tex") \
    > "$folder/log" 2>&1 || {
    echo "report $*: pdflatex says"
    grep -A6 '^!' "$folder/log"
    cat "$folder/$name.table"
    exit 1
  }
}
compiles table
compiles layout --by drafter,decode.draft_length
compiles labels --by arm
