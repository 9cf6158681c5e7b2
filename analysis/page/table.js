// The sweep's table: sorted by any column, filtered by words and by comparisons such as  NFE<40  or  drafter=self.
const table = {order: null, descending: false, words: '', keys: false};

// The value of a column of an arm, whichever kind of column it is.
function cell(arm, column) {
  if (column === 'arm') return data.arms[arm].label;
  if (column.startsWith('key:')) return data.arms[arm].keys[column.slice(4)];
  return data.arms[arm].values[column.slice(6)].value;
}

function columnList() {
  return [{id: 'arm', name: 'arm', text: true},
          ...data.keys.map((key, i) => ({id: 'key:' + i, name: key, text: true})),
          ...data.metrics.map((metric, i) => ({id: 'value:' + i, name: metric.name, help: metric.help, digits: metric.digits}))];
}

// Keeps an arm when every word does. A comparison names a column by its beginning.
function passes(arm, words) {
  return words.every(word => {
    const parts = word.match(/^(.+?)(<=|>=|!=|<|>|=)(.+)$/);
    if (parts) {
      const wanted = parts[1].toLowerCase();
      const all = columnList(), plain = column => column.name.toLowerCase().replaceAll(' ', '_');
      const column = all.find(c => plain(c) === wanted) || all.find(c => plain(c).startsWith(wanted)) ||
                     all.find(c => plain(c).split('.').pop() === wanted);
      if (column) {
        const have = cell(arm, column.id), number = Number(parts[3]);
        if (parts[2] === '=') return column.text || Number.isNaN(number) ? String(have) === parts[3] : Math.abs(have - number) < 0.5 * 10 ** -column.digits;
        if (parts[2] === '!=') return String(have) !== parts[3];
        const value = Number(have);
        return {'<': value < number, '>': value > number, '<=': value <= number, '>=': value >= number}[parts[2]];
      }
    }
    return [data.arms[arm].label, ...data.arms[arm].keys].some(text => text.toLowerCase().includes(word.toLowerCase()));
  });
}

function compare(a, b) {
  if (typeof a === 'string') return a.localeCompare(b, 'en', {numeric: true});
  if (a === null || b === null) return (a === null) - (b === null);
  return a - b;
}

function sortBy(id) {
  table.descending = table.order === id && !table.descending;
  table.order = id;
  refreshTable();
}

function refreshTable() {
  const words = table.words.split(/\s+/).filter(word => word);
  state.shown = data.arms.map((_, i) => i).filter(arm => passes(arm, words));
  if (table.order) {
    state.shown.sort((a, b) => {
      const x = cell(a, table.order), y = cell(b, table.order);
      const missing = x === null || y === null;  // stay last either way
      return (table.descending && !missing ? -1 : 1) * compare(x, y) || a - b;
    });
  }
  const columnsShown = columnList().filter(column => table.keys || !column.id.startsWith('key:'));  // the arm's name says them
  const head = make('tr', {}, make('th', {scope: 'col'}, make('span', {class: 'quiet'}, 'shown')), ...columnsShown.map(column => {
    const sorted = table.order === column.id;
    return make('th', {scope: 'col', 'aria-sort': sorted ? table.descending ? 'descending' : 'ascending' : 'none', class: column.text ? 'text' : ''},
                make('button', {title: column.help || 'sort', 'data-column': column.name, onclick: () => { sortBy(column.id); focusHead(column.name); }},
                     column.name + (sorted ? table.descending ? ' ▾' : ' ▴' : '')));
  }));
  const rows = state.shown.map(arm => make('tr', {'data-arm': arm},
    make('td', {}, make('input', {type: 'checkbox', 'aria-label': 'show ' + data.arms[arm].label + ' in the viewer', checked: state.selected.has(arm),
                                  onchange: event => { event.target.checked ? state.selected.add(arm) : state.selected.delete(arm); state.changed(); }})),
    ...columnsShown.map(column => {
      if (column.id === 'arm') return make('td', {class: 'text'}, armSwatch(arm), cell(arm, 'arm'));
      if (column.text) return make('td', {class: 'text'}, cell(arm, column.id));
      const value = data.arms[arm].values[column.id.slice(6)];
      const range = value.low === undefined ? '' : ' [' + fixed(value.low, column.digits) + ', ' + fixed(value.high, column.digits) + ']';
      return make('td', {}, fixed(value.value, column.digits), make('span', {class: 'quiet'}, range));
    })));
  document.querySelector('#table thead').replaceChildren(head);
  document.querySelector('#table tbody').replaceChildren(...rows);
  document.getElementById('count').textContent = state.shown.length + ' of ' + data.arms.length + ' arms';
  drawPlot();
}

document.getElementById('keys').addEventListener('change', event => {
  table.keys = event.target.checked;
  refreshTable();
});

function focusHead(name) {
  for (const button of document.querySelectorAll('#table th button')) if (button.dataset.column === name) button.focus();
}

document.getElementById('filter').addEventListener('input', event => {
  table.words = event.target.value;
  refreshTable();
});
