/**
 * The page that shows an agent's browser. Pictures are drawn on a canvas; words of the guest are text and nothing else. Input goes
 * out while a person has the control, and the server asks for that again.
 */
const at = (id) => document.getElementById(id);
const [screen, keys, control, who, url] = ['screen', 'keys', 'control', 'who', 'url'].map(at);
const usualSeconds = 300;
const words = {
  off: 'The agent has no browser.',
  unavailable: 'The browser is not available.',
  idle: 'The browser does not run.',
  starting: 'The browser is starting…',
  failed: 'The browser has failed.',
};

let socket = null;
let state = { status: 'starting', tabs: [], heldForSeconds: null, shownId: null, dialog: null };
/** The size of the page's window, in its own pixels. */
let page = { width: 780, height: 440 };

const isHeld = () => state.heldForSeconds !== null && state.heldForSeconds !== undefined;
const send = (message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
};

function connect() {
  socket = new WebSocket(`${location.origin.replace('http', 'ws')}/socket`);
  socket.binaryType = 'arraybuffer';
  socket.onmessage = ({ data }) => (typeof data === 'string' ? told(JSON.parse(data)) : void draw(data));
  socket.onclose = ({ reason }) => {
    state = { ...state, heldForSeconds: null, tabs: [] };
    show();
    who.textContent = `Not connected${reason === '' ? '' : `: ${reason}`}. Trying again…`;
    setTimeout(connect, 3000);
  };
}

async function draw(data) {
  const [width, height] = [new DataView(data).getUint16(0), new DataView(data).getUint16(2)];
  try {
    const picture = await createImageBitmap(new Blob([data.slice(4)], { type: 'image/jpeg' }));
    if (screen.width !== picture.width) screen.width = picture.width;
    if (screen.height !== picture.height) screen.height = picture.height;
    screen.getContext('2d').drawImage(picture, 0, 0);
    picture.close();
    page = { width, height };
  } catch {
    // The next picture may be a better one.
  }
  send({ type: 'drawn' });
}

function told(message) {
  if (message.type === 'state') state = message;
  if (message.type === 'dialog') state = { ...state, dialog: message.dialog };
  at('trouble').textContent = message.type === 'trouble' ? message.message : '';
  show();
}

function show() {
  const held = isHeld();
  const { status, message, tabs } = state;
  if (status === 'running')
    who.textContent = held
      ? `You control it for ${Math.ceil(state.heldForSeconds / 60)} min. The agent waits.`
      : 'The agent controls it. You look on.';
  else who.textContent = [words[status] ?? '', message ?? ''].join(' ').trim();
  control.hidden = !['running', 'idle', 'failed'].includes(status);
  control.textContent = status === 'running' ? (held ? 'Give back' : 'Take control') : 'Start it';
  screen.toggleAttribute('data-held', held);
  for (const id of ['open', 'back', 'forward', 'reload', 'url']) at(id).disabled = !held;
  if (document.activeElement !== url) url.value = tabs.find(({ id }) => id === state.shownId)?.url ?? '';
  at('tabs').replaceChildren(...tabs.map(tabItem));
  showDialog();
}

function tabItem({ id, title, url: address }) {
  const item = document.createElement('li');
  const name = (title || address).slice(0, 100);
  item.append(button(name, () => send({ type: 'tab', what: 'show', id })));
  item.firstChild.setAttribute('aria-current', String(id === state.shownId));
  if (isHeld()) {
    const close = button('×', () => send({ type: 'tab', what: 'close', id }));
    close.setAttribute('aria-label', `Close ${name}`);
    item.append(close);
  }
  return item;
}

function button(text, press) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.disabled = !isHeld();
  made.onclick = press;
  return made;
}

function showDialog() {
  const { dialog } = state;
  at('dialog').hidden = dialog === null;
  if (dialog === null) return;
  at('dialog-text').textContent = `The page says: ${dialog.message}`;
  const asks = dialog.kind === 'prompt';
  at('dialog-input').hidden = !asks;
  at('dialog-label').hidden = !asks;
  at('dialog-no').hidden = dialog.kind === 'alert';
}

for (const [id, accept] of [
  ['dialog-yes', true],
  ['dialog-no', false],
])
  at(id).onclick = () => {
    send({ type: 'dialog', accept, text: at('dialog-input').value });
    at('dialog-input').value = '';
  };
control.onclick = () => {
  if (state.status !== 'running') send({ type: 'start' });
  else send(isHeld() ? { type: 'release' } : { type: 'take', seconds: usualSeconds });
  keys.focus();
};
for (const what of ['back', 'forward', 'reload']) at(what).onclick = () => send({ type: 'act', what });
at('open').onclick = () => send({ type: 'open' });
at('address').onsubmit = (event) => {
  event.preventDefault();
  if (url.value.trim() !== '') send({ type: 'go', url: url.value });
  keys.focus();
};

const modifiersOf = ({ altKey, ctrlKey, metaKey, shiftKey }) =>
  Number(altKey) + 2 * Number(ctrlKey) + 4 * Number(metaKey) + 8 * Number(shiftKey);

function placeOf({ clientX, clientY }) {
  const { left, top, width, height } = screen.getBoundingClientRect();
  const within = (value, most) => Math.min(most, Math.max(0, value));
  return {
    x: within(((clientX - left) / width) * page.width, page.width),
    y: within(((clientY - top) / height) * page.height, page.height),
  };
}

let movedAt = 0;
function mouse(event, kind) {
  if (!isHeld()) return;
  if (kind === 'mouseMoved') {
    if (event.timeStamp - movedAt < 30) return;
    movedAt = event.timeStamp;
  }
  const button = kind === 'mouseMoved' ? 'none' : (['left', 'middle', 'right'][event.button] ?? 'none');
  const clicks = kind === 'mouseMoved' ? 0 : Math.min(3, clicksOf(event, kind));
  const modifiers = modifiersOf(event);
  send({ type: 'mouse', kind, ...placeOf(event), button, buttons: event.buttons & 31, clicks, modifiers });
}

let pressed = { at: -Infinity, x: 0, y: 0, clicks: 0 };
/** Clicks that follow one another at the same place count together. */
function clicksOf({ timeStamp, clientX, clientY }, kind) {
  if (kind !== 'mousePressed') return pressed.clicks;
  const isSame = timeStamp - pressed.at < 500 && Math.hypot(clientX - pressed.x, clientY - pressed.y) < 6;
  pressed = { at: timeStamp, x: clientX, y: clientY, clicks: isSame ? pressed.clicks + 1 : 1 };
  return pressed.clicks;
}

screen.onpointermove = (event) => mouse(event, 'mouseMoved');
screen.onpointerdown = (event) => {
  event.preventDefault();
  screen.setPointerCapture(event.pointerId);
  keys.focus();
  mouse(event, 'mousePressed');
};
screen.onpointerup = (event) => mouse(event, 'mouseReleased');
screen.oncontextmenu = (event) => event.preventDefault();
screen.onfocus = () => keys.focus();
screen.addEventListener(
  'wheel',
  (event) => {
    if (!isHeld()) return;
    event.preventDefault();
    const step = event.deltaMode === 0 ? 1 : 40;
    const bound = (value) => Math.min(10_000, Math.max(-10_000, value * step));
    const [dx, dy] = [bound(event.deltaX), bound(event.deltaY)];
    send({ type: 'wheel', ...placeOf(event), dx, dy, modifiers: modifiersOf(event) });
  },
  { passive: false },
);

/** Keys that write something by themselves in Chromium's protocol. */
const typed = { Enter: '\r', Tab: '\t' };
function key(event, kind) {
  if (!isHeld() || event.isComposing || event.key === 'Process' || event.key === 'Unidentified') return;
  // The browser of the viewer pastes, and its text comes as input.
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && event.key.toLowerCase() === 'v') return;
  event.preventDefault();
  const isText = [...event.key].length === 1 && !isCommand;
  const text = isText ? event.key : (typed[event.key] ?? '');
  const { code, keyCode } = event;
  send({ type: 'key', kind, key: event.key.slice(0, 32), code, text, keyCode, modifiers: modifiersOf(event) });
}
keys.onkeydown = (event) => key(event, 'keyDown');
keys.onkeyup = (event) => key(event, 'keyUp');
/** Text that came otherwise: pasted, composed, or from a keyboard on a screen. */
const written = () => {
  if (keys.value !== '' && isHeld()) send({ type: 'text', text: keys.value.slice(0, 20_000) });
  keys.value = '';
};
keys.oninput = (event) => {
  if (!event.isComposing) written();
};
keys.oncompositionend = written;

connect();
