// What the program embedded, unpacked. Columns are base64 of little-endian integers as narrow as they fit.
const data = JSON.parse(document.getElementById('data').textContent);

const kArrays = {u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array};
function unpack(column) {
  const text = atob(column.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new kArrays[column.type](bytes.buffer);
}
const columns = {};
for (const name in data.columns) columns[name] = unpack(data.columns[name]);

// Begins of rows from their counts: rows of i are [begin[i], begin[i + 1]).
function begins(counts) {
  const begin = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; ++i) begin[i + 1] = begin[i] + counts[i];
  return begin;
}
columns.sampleBegin = begins(columns.sample_steps);
columns.tokenBegin = begins(columns.step_tokens);
columns.draftBegin = begins(columns.step_drafts);

// Probabilities are stored on a logarithmic scale.
const probability = code => code === 65535 ? NaN : code === 65534 ? 0 : Math.exp(-code / 3000);

// Rows of the sample table by what was decoded, then by arm.
const tasks = [];
{
  const known = new Map();
  for (let row = 0; row < columns.sample_arm.length; ++row) {
    const prompt = columns.sample_prompt[row], repeat = columns.sample_repeat[row], key = prompt + '/' + repeat;
    if (!known.has(key)) {
      known.set(key, {name: data.prompts[prompt] + (repeat ? ', repeat ' + repeat : ''), byArm: new Map()});
      tasks.push(known.get(key));
    }
    known.get(key).byArm.set(columns.sample_arm[row], row);
  }
}

const state = {
  selected: new Set(data.arms.map((_, i) => i).slice(0, 8)),  // arms in the viewer
  shown: data.arms.map((_, i) => i),                          // rows of the table, in its order
  listeners: [],
  changed() { for (const listener of this.listeners) listener(); },
};

// Elements: make('button', {class: 'x', onclick: f}, 'text', child).
function make(tag, attributes = {}, ...children) {
  const svg = ['svg', 'g', 'path', 'line', 'circle', 'text', 'rect', 'title'].includes(tag);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const fixed = (value, digits) => value === null || Number.isNaN(value) ? '–' : value.toFixed(digits);
const brief = value => Number.isNaN(value) ? '–' : value === 0 ? '0' : value < 0.001 ? value.toExponential(1) : value.toPrecision(3);

const armColour = arm => data.arms[arm].colour;

// The outline of a shape of `sides` corners around 0, 0, the first of them `turn` of a circle from the top.
function outline(sides, radius, turn = 0) {
  const corners = Array.from({length: sides}, (_, i) => 2 * Math.PI * (i / sides + turn));
  return 'M' + corners.map(a => `${(radius * Math.sin(a)).toFixed(2)} ${(-radius * Math.cos(a)).toFixed(2)}`).join('L') + 'Z';
}
const kOutlines = {
  disc: outline(24, 6), square: outline(4, 7, 1 / 8), triangle: outline(3, 7), diamond: outline(4, 7), wedge: outline(3, 7, 1 / 2), pentagon: outline(5, 7),
  plus: 'M-6 0L6 0M0 -6L0 6', star: 'M-6 0L6 0M0 -6L0 6M-4.5 -4.5L4.5 4.5M-4.5 4.5L4.5 -4.5',
};
kOutlines.ring = kOutlines.disc;

// The mark of an arm: its shape in its colour, or its letter.
function armMark(arm, attributes) {
  const {colour, shape} = data.arms[arm], kind = shape.replace('open ', '');
  if (!(kind in kOutlines)) return make('text', {class: 'arm-mark', fill: colour, y: 5, ...attributes}, shape);
  const filled = kind === shape && !['ring', 'plus', 'star'].includes(shape);
  return make('path', {class: 'arm-mark', d: kOutlines[kind], fill: filled ? colour : 'transparent', stroke: colour, ...attributes});
}

// The same in a line of text.
const armSwatch = arm => make('svg', {class: 'swatch', viewBox: '-9 -9 18 18', 'aria-hidden': 'true'}, armMark(arm, {}));

// One tip for all: `lines` at a point of the window; nothing hides it.
const tip = document.getElementById('tip');
function showTip(lines, x, y) {
  tip.replaceChildren(...lines.map((line, i) => make(i ? 'div' : 'strong', {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), gap = 14;
  tip.style.left = Math.max(4, x + gap + box.width > innerWidth ? x - gap - box.width : x + gap) + 'px';
  tip.style.top = Math.max(4, y + gap + box.height > innerHeight ? y - gap - box.height : y + gap) + 'px';
}
function hideTip() { tip.hidden = true; }
