// The trajectories of one prompt: positions across, steps down, one pane an arm. Each pane draws only the rows and positions in sight.
const kSources = ['prompt', 'accepted', 'resampled', 'bonus', 'threshold', 'fallback', 'edited', 'taken back'];
const kSourceColours = ['#999999', '#009E73', '#D55E00', '#56B4E9', '#CC79A7', '#E69F00', '#F0E442', '#000000'];
const kStops = ['complete', 'wrong token', 'wrong order', 'end of the window', 'end of the block', 'cache refresh', 'budget', 'end of the text', 'unverified'];
const kPale = [237, 248, 251], kDark = [0, 109, 150];  // of probabilities 0 and 1
const kGutter = 46, kHeader = 16;

const viewer = {task: 0, width: 0, colour: 'source', panes: [], hot: -1};  // width: pixels a position; 0: as fits

const spelled = id => id >= data.pieces.length ? '' : data.pieces[id];
const readable = piece => piece.replaceAll('\u2581', ' ').trim() || piece.replaceAll('\u2581', '␣');

// One sample, indexed by position.
function trajectory(row) {
  const first = columns.sampleBegin[row], end = columns.sampleBegin[row + 1], length = columns.sample_length[row];
  const when = new Int32Array(length).fill(-1), what = new Int32Array(length).fill(-1);
  for (let step = first; step < end; ++step) {
    for (let t = columns.tokenBegin[step]; t < columns.tokenBegin[step + 1]; ++t) {
      const position = columns.token_position[t];
      if (when[position] < 0) when[position] = step - first;
      what[position] = t;
    }
  }
  return {row, first, end, length, when, what};
}

class Pane {
  constructor(arm, row) {
    this.arm = arm;
    this.path = trajectory(row);
    this.cursor = {position: -1, step: -1};
    const steps = this.path.end - this.path.first, nfe = columns.sample_nfe[row], tokens = columns.sample_generated[row];
    this.canvas = make('canvas');
    this.space = make('div', {class: 'space'}, this.canvas);
    this.box = make('div', {class: 'box', tabindex: 0, role: 'application',
                            'aria-label': 'trajectory of ' + data.arms[arm].label + ': arrow keys move over positions and steps'}, this.space);
    this.note = make('p', {class: 'quiet', 'aria-live': 'polite'});
    const summary = `${tokens} tokens in ${steps} steps, ${nfe} forwards` + (nfe ? `, ${(tokens / nfe).toFixed(2)} tokens a forward` : '');
    this.element = make('section', {class: 'pane', 'data-arm': arm},
      make('h3', {}, armSwatch(arm), data.arms[arm].label),
      make('p', {class: 'quiet'}, summary), this.box, this.note, make('p', {class: 'decoded'}, data.texts[row]));
    this.box.addEventListener('scroll', () => this.later());
    this.box.addEventListener('pointermove', event => this.point(event));
    this.box.addEventListener('pointerleave', () => { this.cursor = {position: -1, step: -1}; viewer.hot = -1; hideTip(); redraw(); });
    this.box.addEventListener('keydown', event => this.key(event));
    this.box.addEventListener('blur', hideTip);
  }

  // Sizes depend on the width that the page gives.
  layout() {
    const sight = this.box.clientWidth, {length, first, end} = this.path;
    this.wide = viewer.width || Math.max(3, Math.min(24, (sight - kGutter - 2) / length));
    this.high = this.wide >= 22 ? 20 : 12;
    this.space.style.width = Math.ceil(kGutter + length * this.wide) + 'px';
    this.space.style.height = kHeader + (end - first) * this.high + 'px';
    this.box.style.height = Math.min(440, kHeader + (end - first) * this.high + 18) + 'px';
    this.sight = {wide: this.box.clientWidth, high: this.box.clientHeight};
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.max(1, this.sight.wide * scale);
    this.canvas.height = Math.max(1, this.sight.high * scale);
    this.canvas.style.width = this.sight.wide + 'px';
    this.canvas.style.height = this.sight.high + 'px';
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  // Those in sight: [from, to) positions and steps.
  range() {
    const {scrollLeft, scrollTop} = this.box, {length, first, end} = this.path;
    return {from: Math.max(0, Math.floor((scrollLeft) / this.wide)), to: Math.min(length, Math.ceil((scrollLeft + this.sight.wide - kGutter) / this.wide)),
            above: Math.max(0, Math.floor(scrollTop / this.high)), below: Math.min(end - first, Math.ceil((scrollTop + this.sight.high - kHeader) / this.high))};
  }

  draw() {
    if (!this.box.isConnected || !this.sight) return;
    const context = this.canvas.getContext('2d'), scale = devicePixelRatio || 1, colours = theme();
    const {when, first} = this.path, {from, to, above, below} = this.range();
    const x = position => kGutter + position * this.wide - this.box.scrollLeft, y = step => kHeader + step * this.high - this.box.scrollTop;
    const gap = this.wide > 5 ? 1 : 0, bottom = y(this.path.end - first);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.sight.wide, this.sight.high);
    context.save();
    context.beginPath();
    context.rect(kGutter, kHeader, this.sight.wide, this.sight.high);
    context.clip();
    for (let position = from; position < to; ++position) {  // what stands there already
      const since = when[position];
      context.fillStyle = since < 0 ? colours.given : colours.filled;
      const top = since < 0 ? kHeader : Math.max(kHeader, y(since + 1));
      if (top < bottom) context.fillRect(x(position), top, this.wide - gap, bottom - top);
    }
    if (viewer.hot >= from && viewer.hot < to) {
      context.fillStyle = colours.hot;
      context.fillRect(x(viewer.hot), kHeader, this.wide - gap, this.sight.high);
    }
    context.font = `${this.high > 14 ? 11 : 9}px system-ui, sans-serif`;
    context.textBaseline = 'middle';
    for (let step = above; step < below; ++step) this.drawStep(context, first + step, position => x(position), y(step), gap, colours);
    if (this.cursor.step >= above && this.cursor.step < below) {
      context.strokeStyle = colours.ink;
      context.strokeRect(x(this.cursor.position) - 0.5, y(this.cursor.step) - 0.5, this.wide, this.high);
    }
    context.restore();
    this.drawMargins(context, x, y, from, to, above, below, colours);
    ++viewer.draws;
  }

  drawStep(context, step, x, y, gap, colours) {
    context.strokeStyle = context.fillStyle = colours.draft;
    for (let d = columns.draftBegin[step]; d < columns.draftBegin[step + 1]; ++d) {  // rejected drafts
      const left = x(columns.draft_position[d]);
      if (left < kGutter - this.wide || left > this.sight.wide) continue;
      context.strokeRect(left + 0.5, y + 1.5, Math.max(1, this.wide - gap - 1), this.high - 3);
      this.spell(context, columns.draft_id[d], left, y, gap);
    }
    for (let t = columns.tokenBegin[step]; t < columns.tokenBegin[step + 1]; ++t) {
      const left = x(columns.token_position[t]);
      if (left < kGutter - this.wide || left > this.sight.wide) continue;
      context.fillStyle = this.colour(t, colours);
      context.fillRect(left, y, this.wide - gap, this.high - 1);
      context.fillStyle = '#000';
      this.spell(context, columns.token_id[t], left, y, gap);
    }
  }

  // The token's text, as much of it as fits.
  spell(context, id, left, y, gap) {
    if (this.wide < 22) return;
    context.save();
    context.beginPath();
    context.rect(left, y, this.wide - gap, this.high);
    context.clip();
    context.fillText(readable(spelled(id)), left + 2, y + this.high / 2);
    context.restore();
  }

  colour(t, colours) {
    if (viewer.colour === 'source') return kSourceColours[columns.token_source[t]];
    const value = probability(columns['token_' + viewer.colour][t]);
    if (Number.isNaN(value)) return colours.draft;
    const part = channel => Math.round(kPale[channel] + (kDark[channel] - kPale[channel]) * value);
    return `rgb(${part(0)},${part(1)},${part(2)})`;
  }

  // Numbers of steps and positions; a step that was verified has a mark.
  drawMargins(context, x, y, from, to, above, below, colours) {
    context.font = '9px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (let step = above; step < below; ++step) {
      const top = y(step), row = this.path.first + step;
      if (top < kHeader - 1) continue;
      context.fillStyle = colours.quiet;
      if (step % 5 === 0 || this.high > 14) context.fillText(step, 26, top + this.high / 2);
      context.fillStyle = colours.mark;
      if (columns.step_verified[row]) context.fillRect(32, top + 1, 8, this.high - 3);
      else {
        context.strokeStyle = colours.mark;
        context.strokeRect(32.5, top + 1.5, 7, this.high - 4);
      }
    }
    context.textAlign = 'center';
    context.fillStyle = colours.quiet;
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(n => n * this.wide >= 34) || 1000;
    for (let position = Math.ceil(from / every) * every; position < to; position += every) context.fillText(position, x(position) + this.wide / 2, kHeader / 2);
    context.textAlign = 'left';
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const position = Math.floor((event.clientX - box.left - kGutter + this.box.scrollLeft) / this.wide);
    const step = Math.floor((event.clientY - box.top - kHeader + this.box.scrollTop) / this.high);
    const inside = position >= 0 && position < this.path.length && step >= 0 && step < this.path.end - this.path.first;
    if (inside) this.move(position, step, event.clientX, event.clientY);
    else hideTip();
  }

  key(event) {
    const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    let {position, step} = this.cursor;
    if (moves[event.key]) position += moves[event.key][0], step += moves[event.key][1];
    else if (event.key === 'Home') position = 0;
    else if (event.key === 'End') position = this.path.length - 1;
    else return;
    event.preventDefault();
    position = Math.max(0, Math.min(this.path.length - 1, position));
    step = Math.max(0, Math.min(this.path.end - this.path.first - 1, step));
    const left = position * this.wide, top = step * this.high;  // into sight
    this.box.scrollLeft = Math.min(left, Math.max(this.box.scrollLeft, left + this.wide - this.sight.wide + kGutter));
    this.box.scrollTop = Math.min(top, Math.max(this.box.scrollTop, top + this.high - this.sight.high + kHeader));
    const box = this.canvas.getBoundingClientRect();
    this.move(position, step, box.left + kGutter + left + this.wide - this.box.scrollLeft, box.top + kHeader + top + this.high - this.box.scrollTop);
  }

  move(position, step, x, y) {
    if (position !== this.cursor.position || step !== this.cursor.step) {
      this.cursor = {position, step};
      viewer.hot = position;
      this.lines = this.describe(position, step);
      this.note.textContent = document.activeElement === this.box ? this.lines.join('; ') : '';
      redraw();
    }
    showTip(this.lines, x, y);
  }

  // What happened in this step at this position, then the step itself.
  describe(position, step) {
    const row = this.path.first + step, lines = [];
    const says = (name, code) => { const value = probability(code); return Number.isNaN(value) ? '' : ` ${name} ${brief(value)}`; };
    const quoted = id => spelled(id) ? `“${spelled(id).replaceAll('\u2581', '␣')}”` : `token ${data.ids[id]}`;
    for (let t = columns.tokenBegin[row]; t < columns.tokenBegin[row + 1]; ++t) {
      if (columns.token_position[t] !== position) continue;
      lines.push(`${quoted(columns.token_id[t])} ${kSources[columns.token_source[t]]}`);
      const numbers = says('p', columns.token_p[t]) + says('q', columns.token_q[t]) + says('confidence', columns.token_confidence[t]);
      if (numbers) lines.push(numbers.trim());
    }
    for (let d = columns.draftBegin[row]; d < columns.draftBegin[row + 1]; ++d) {
      if (columns.draft_position[d] !== position) continue;
      lines.push(`drafted ${quoted(columns.draft_id[d])}, ` + (columns.draft_judged[d] ? 'rejected' : 'not judged'));
      const numbers = says('p', columns.draft_p[d]) + says('q', columns.draft_q[d]) + says('accepted with', columns.draft_accept[d]);
      if (numbers) lines.push(numbers.trim());
    }
    if (!lines.length) {
      const t = this.path.what[position], since = this.path.when[position];
      lines.push(since < 0 ? 'given, or never filled' : `${quoted(columns.token_id[t])} ` + (since < step ? `stands there since step ${since}` : `will stand there from step ${since} on`));
    }
    lines.push(`position ${position}, step ${step}` + (data.blocks ? `, block ${columns.step_block[row]}` : ''));
    const score = columns.step_score[row], expected = columns.step_expected[row];
    lines.push('router: ' + (columns.step_verified[row] ? 'verify' : 'no check') + (Number.isNaN(score) ? '' : `, score ${score.toFixed(3)}`) +
               (Number.isNaN(expected) ? '' : `, ${expected.toFixed(2)} accepted expected`));
    lines.push(`span ${columns.step_span[row]}, accepted ${columns.step_accepted[row]}, committed ${columns.tokenBegin[row + 1] - columns.tokenBegin[row]}; stopped: ${kStops[columns.step_stop[row]]}`);
    return lines;
  }
}

let colours = null;
function theme() {
  if (colours) return colours;
  const style = getComputedStyle(document.documentElement), of = name => style.getPropertyValue('--' + name).trim();
  return colours = {ink: of('ink'), quiet: of('quiet'), filled: of('filled'), given: of('given'), hot: of('hot'), draft: of('draft'), mark: of('mark')};
}

viewer.draws = 0;
function redraw() { for (const pane of viewer.panes) pane.later(); }

function showTask() {
  const task = tasks[viewer.task];
  hideTip();
  viewer.hot = -1;
  viewer.panes = task ? [...task.byArm].sort(([a], [b]) => a - b).filter(([arm]) => state.selected.has(arm)).map(([arm, row]) => new Pane(arm, row)) : [];
  document.getElementById('panes').replaceChildren(...viewer.panes.map(pane => pane.element));
  const reference = task && data.references[columns.sample_prompt[[...task.byArm.values()][0]]];
  document.getElementById('reference').textContent = reference ? 'Reference: ' + reference : '';
  document.getElementById('prompt').value = viewer.task;
  for (const pane of viewer.panes) pane.layout();
}

function turn(by) {
  if (!tasks.length) return;
  viewer.task = (viewer.task + by + tasks.length) % tasks.length;
  showTask();
}

const promptList = document.getElementById('prompt');
tasks.forEach((task, i) => promptList.append(make('option', {value: i}, task.name)));
promptList.addEventListener('change', () => { viewer.task = Number(promptList.value); showTask(); });
document.getElementById('before').addEventListener('click', () => turn(-1));
document.getElementById('after').addEventListener('click', () => turn(1));
document.getElementById('zoom').addEventListener('input', event => {
  viewer.width = Number(event.target.value) < 3 ? 0 : Number(event.target.value);
  for (const pane of viewer.panes) pane.layout();
});
document.getElementById('colour').addEventListener('change', event => {
  viewer.colour = event.target.value;
  redraw();
});
addEventListener('resize', () => { for (const pane of viewer.panes) pane.layout(); });
state.listeners.push(showTask);
