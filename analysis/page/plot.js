// Two columns of the table against each other, with the Pareto front of the arms that the filter left.
const plot = {width: 960, height: 400, left: 66, top: 14, bottom: 46, line: 18};

// Where the arms' names stand: at the right of the plot as far as they fit there, and below it in columns; names too long for that all stand below.
function legendOf(arms) {
  const longest = Math.max(0, ...arms.map(arm => data.arms[arm].label.length));
  if (longest <= 34) return {right: 280, beside: 20, columns: 3, letters: 34};
  return longest <= 62 ? {right: 20, beside: 0, columns: 2, letters: 62} : {right: 20, beside: 0, columns: 1, letters: 128};
}

function ticks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) list.push(i * step);
  return {list, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9))};
}

function extent(arms, metric) {
  const all = arms.flatMap(arm => { const v = data.arms[arm].values[metric]; return [v.value, v.low ?? v.value, v.high ?? v.value]; });
  let low = Math.min(...all), high = Math.max(...all);
  if (low === high) low -= Math.abs(low) * 0.1 || 1, high += Math.abs(high) * 0.1 || 1;
  const pad = (high - low) * 0.07;
  return [low - pad, high + pad];
}

// Arms that no other arm beats in both metrics.
function front(arms, x, y) {
  const good = (arm, metric) => (data.metrics[metric].better || 1) * data.arms[arm].values[metric].value;
  return arms.filter(a => !arms.some(b => good(b, x) >= good(a, x) && good(b, y) >= good(a, y) && (good(b, x) > good(a, x) || good(b, y) > good(a, y))))
             .sort((a, b) => good(a, x) - good(b, x));
}

// A panel for each baseline: arms that are compared with different ones have no common front.
function drawPlot() {
  const x = Number(document.getElementById('xaxis').value), y = Number(document.getElementById('yaxis').value);
  const arms = state.shown.filter(arm => data.arms[arm].values[x].value !== null && data.arms[arm].values[y].value !== null);
  const panels = new Map();
  for (const arm of arms) panels.set(data.arms[arm].baseline, [...(panels.get(data.arms[arm].baseline) || []), arm]);
  if (!panels.size) panels.set(null, []);
  document.getElementById('plot').replaceChildren(...[...panels].map(([baseline, members]) => {
    const against = panels.size > 1 ? ', against ' + data.arms[baseline].label : '';
    const legend = legendOf(members), below = Math.max(0, members.length - legend.beside);
    const height = plot.height + plot.line * Math.ceil(below / legend.columns);
    const svg = make('svg', {viewBox: `0 0 ${plot.width} ${height}`, role: 'group', 'aria-label': 'arms: ' + data.metrics[y].name + ' against ' + data.metrics[x].name + against});
    if (members.length) fillPlot(svg, members, x, y, plot.width - legend.right);
    else svg.append(make('text', {x: plot.width / 2, y: plot.height / 2, class: 'label middle'}, 'no arm has both'));
    if (against) svg.append(make('text', {x: plot.left + 8, y: plot.top + 4, class: 'label'}, against.slice(2)));
    fillLegend(svg, members, legend);
    return svg;
  }));
}

// The arms' marks and names.
function fillLegend(svg, arms, {right, beside, columns, letters}) {
  arms.forEach((arm, i) => {
    const name = data.arms[arm].label, more = i - beside;
    const x = more < 0 ? plot.width - right + 14 : 14 + (more % columns) * (plot.width / columns);
    const y = more < 0 ? plot.top + 10 + plot.line * i : plot.height + 6 + plot.line * Math.floor(more / columns);
    svg.append(make('g', {transform: `translate(${x} ${y})`}, armMark(arm, {})),
               make('text', {class: 'label', x: x + 12, y: y + 4}, name.length > letters ? name.slice(0, letters - 1) + '…' : name, make('title', {}, name)));
  });
}

function fillPlot(svg, arms, x, y, right) {
  const [x0, x1] = extent(arms, x), [y0, y1] = extent(arms, y);
  const px = value => plot.left + (value - x0) / (x1 - x0) * (right - plot.left);
  const py = value => plot.height - plot.bottom - (value - y0) / (y1 - y0) * (plot.height - plot.top - plot.bottom);
  const bottom = plot.height - plot.bottom;
  const xs = ticks(x0, x1), ys = ticks(y0, y1);
  for (const value of xs.list) {
    svg.append(make('line', {class: 'grid', x1: px(value), x2: px(value), y1: plot.top, y2: bottom}),
               make('text', {class: 'label middle', x: px(value), y: bottom + 18}, value.toFixed(xs.digits)));
  }
  for (const value of ys.list) {
    svg.append(make('line', {class: 'grid', x1: plot.left, x2: right, y1: py(value), y2: py(value)}),
               make('text', {class: 'label end', x: plot.left - 8, y: py(value) + 4}, value.toFixed(ys.digits)));
  }
  const better = metric => data.metrics[metric].better > 0 ? ' (more is better)' : data.metrics[metric].better < 0 ? ' (less is better)' : '';
  svg.append(make('text', {class: 'label middle', x: (plot.left + right) / 2, y: plot.height - 8}, data.metrics[x].name + better(x)),
             make('text', {class: 'label middle', transform: `translate(15 ${(plot.top + bottom) / 2}) rotate(-90)`}, data.metrics[y].name + better(y)));
  const path = front(arms, x, y).map(arm => [px(data.arms[arm].values[x].value), py(data.arms[arm].values[y].value)]);
  if (path.length > 1) svg.append(make('path', {class: 'front', d: 'M' + path.map(p => p.join(' ')).join('L')}));
  for (const arm of arms) {
    const vx = data.arms[arm].values[x], vy = data.arms[arm].values[y], colour = armColour(arm);
    if (vx.low !== undefined) svg.append(make('line', {stroke: colour, class: 'bar', x1: px(vx.low), x2: px(vx.high), y1: py(vy.value), y2: py(vy.value)}));
    if (vy.low !== undefined) svg.append(make('line', {stroke: colour, class: 'bar', x1: px(vx.value), x2: px(vx.value), y1: py(vy.low), y2: py(vy.high)}));
  }
  for (const arm of arms) {
    const say = metric => {
      const value = data.arms[arm].values[metric], digits = data.metrics[metric].digits;
      return data.metrics[metric].name + ' ' + fixed(value.value, digits) + (value.low === undefined ? '' : ` [${fixed(value.low, digits)}, ${fixed(value.high, digits)}]`);
    };
    const lines = [data.arms[arm].label, say(x), say(y)];
    // Of arms whose marks cover each other the topmost is hovered, so all are named.
    const here = arms.filter(other => Math.hypot(px(data.arms[other].values[x].value) - px(data.arms[arm].values[x].value),
                                                 py(data.arms[other].values[y].value) - py(data.arms[arm].values[y].value)) < 2);
    const others = here.filter(other => other !== arm).map(other => 'also here: ' + data.arms[other].label);
    const at = event => {
      const box = event.target.getBoundingClientRect();
      showTip([...lines, ...others], box.right, box.bottom);
      highlight(here);
    };
    const leave = () => { hideTip(); highlight([]); };
    const place = `translate(${px(data.arms[arm].values[x].value)} ${py(data.arms[arm].values[y].value)})`;
    svg.append(make('g', {transform: place, class: 'point', tabindex: 0, role: 'img', 'aria-label': lines.join(', '), 'data-arm': arm,
                          onpointerenter: at, onpointerleave: leave, onfocus: at, onblur: leave}, armMark(arm, {})));
  }
}

// The arms' rows of the table.
function highlight(arms) {
  for (const row of document.querySelectorAll('#table tbody tr')) row.classList.toggle('hot', arms.includes(Number(row.dataset.arm)));
}

for (const [id, chosen] of [['xaxis', data.axes[0]], ['yaxis', data.axes[1]]]) {
  const select = document.getElementById(id);
  // Times that may not be compared are no axis.
  data.metrics.forEach((metric, i) => { if (!metric.refused) select.append(make('option', {value: i, selected: i === chosen}, metric.name)); });
  select.addEventListener('change', drawPlot);
}
