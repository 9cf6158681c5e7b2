// Puts the page together; light or dark as the system has it, or as the button says.
document.getElementById('title').textContent = data.title;
document.getElementById('made').textContent = data.made;
document.getElementById('about').textContent = data.about;
document.getElementById('caption').textContent = data.caption;
document.getElementById('findings').replaceChildren(...(data.findings.length ? data.findings : [{arm: null, sentence: 'No metric with a margin was compared.'}]).map(finding => make('li', {},
  ...(finding.arm === null ? [] : [make('strong', {}, data.arms[finding.arm].label), ' against ' + data.arms[data.arms[finding.arm].baseline].label + ': ']), finding.sentence)));
document.getElementById('sources').replaceChildren(
  ...kSources.slice(1).filter((_, i) => columns.token_source.includes(i + 1)).map(source => make('span', {class: 'source'},
    make('span', {class: 'swatch', style: 'background:' + kSourceColours[kSources.indexOf(source)]}), source)),
  make('span', {class: 'source'}, make('span', {class: 'swatch hollow'}), 'rejected draft'),
  make('span', {class: 'source'}, make('span', {class: 'swatch mark'}), 'step verified'));

function repaint() {
  colours = null;
  redraw();
}
document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement, system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  root.dataset.theme = (root.dataset.theme || system) === 'dark' ? 'light' : 'dark';
  repaint();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);

refreshTable();
showTask();
