/** Whoever controls a guest may answer in Chromium's place: the host's memory, its time and the viewer stay out of reach. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, afterEach, before, test } from 'node:test';
import { FalseChromium, pictureOf, plainJpeg } from '../testing/false-chromium.ts';
import { listTabs } from './http.ts';
import { isPlainJpeg, maxFrameBytes } from './jpeg.ts';
import { CdpPage } from './page.ts';
import type { Dialog, Picture } from './page.ts';

const chromium = new FalseChromium();
class Seen {
  readonly pictures: Picture[] = [];
  readonly dialogs: (Dialog | null)[] = [];
  closed = 0;
}
/** All that the open tab has said. */
let seen = new Seen();
let page: CdpPage | undefined;
const never = new AbortController().signal;
async function open(): Promise<CdpPage> {
  const mine = (seen = new Seen());
  const handlers = {
    picture: (picture: Picture) => void mine.pictures.push(picture),
    dialog: (dialog: Dialog | null) => void mine.dialogs.push(dialog),
    closed: () => void (mine.closed += 1),
  };
  return (page = await CdpPage.open(chromium.dial, 'A'.repeat(32), handlers, never));
}

before(() => chromium.listen());
after(() => chromium.close());
afterEach(() => {
  page?.close();
  chromium.onTab = () => undefined;
  chromium.onCommand = () => undefined;
  chromium.answer = (_, response) => response.end('[]');
  chromium.heard.length = 0;
});

async function until(holds: () => boolean): Promise<void> {
  for (const began = Date.now(); !holds();) {
    assert.ok(Date.now() - began < 10_000, 'it does not become so');
    await sleep(5);
  }
}

/** The picture with one segment more, in front of the others. */
const withSegment = (marker: number, bytes = Buffer.alloc(2)): Buffer =>
  Buffer.concat([
    plainJpeg.subarray(0, 2),
    Buffer.from([0xff, marker, 0, bytes.length + 2]),
    bytes,
    plainJpeg.subarray(2),
  ]);
/** The picture with a head that says another size. */
function sized(width: number, height: number): Buffer {
  const copy = Buffer.from(plainJpeg);
  const head = copy.indexOf(Buffer.from([0xff, 0xc0]));
  copy.writeUInt16BE(height, head + 5);
  copy.writeUInt16BE(width, head + 7);
  return copy;
}

test('only plain pictures of a bounded size pass', () => {
  assert.ok(isPlainJpeg(plainJpeg));
  assert.ok(isPlainJpeg(sized(2048, 2048)));
  const bad: Readonly<Record<string, Uint8Array>> = {
    empty: Buffer.alloc(0),
    html: Buffer.from('<script>alert(1)</script>'),
    svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    png: Buffer.from('89504e470d0a1a0a', 'hex'),
    'a beginning alone': plainJpeg.subarray(0, 20),
    'without an end': plainJpeg.subarray(0, -2),
    'something behind its end': Buffer.concat([plainJpeg, Buffer.from('<html>')]),
    'a second picture behind it': Buffer.concat([plainJpeg, plainJpeg]),
    'too wide': sized(2049, 1),
    'too high': sized(1, 65_535),
    'no size': sized(0, 0),
    'Exif data': withSegment(0xe1),
    'a colour profile': withSegment(0xe2),
    'a comment': withSegment(0xfe),
    'a second frame': withSegment(0xc0, Buffer.from([8, 0, 1, 0, 1, 1, 1, 0x11, 0])),
    progressive: Buffer.from(plainJpeg.toString('latin1').replace('\xff\xc0', '\xff\xc2'), 'latin1'),
    arithmetic: Buffer.from(plainJpeg.toString('latin1').replace('\xff\xc0', '\xff\xc9'), 'latin1'),
    'a length of nothing': Buffer.from('ffd8ffdb0000', 'hex'),
    'too long': Buffer.concat([plainJpeg.subarray(0, -2), Buffer.alloc(maxFrameBytes), plainJpeg.subarray(-2)]),
  };
  for (const [name, bytes] of Object.entries(bad)) assert.equal(isPlainJpeg(bytes), false, name);
  const long = Buffer.concat([plainJpeg.subarray(0, -2), Buffer.alloc(maxFrameBytes - 400, 0xff)]);
  const began = performance.now();
  assert.equal(isPlainJpeg(long), false);
  assert.ok(performance.now() - began < 200);
});

test('pictures come, are answered when they were drawn, and a dialog has bounded words', async () => {
  chromium.onTab = (socket) => {
    socket.send(pictureOf(plainJpeg));
    socket.send(
      JSON.stringify({
        method: 'Page.javascriptDialogOpening',
        params: { type: 'x', message: `a\u202Eb\n${'c'.repeat(9_000)}` },
      }),
    );
  };
  const opened = await open();
  await until(() => seen.dialogs.length === 1);
  assert.deepEqual([seen.pictures[0]!.width, seen.pictures[0]!.height], [780, 437]);
  assert.deepEqual(Buffer.from(seen.pictures[0]!.jpeg), plainJpeg);
  assert.deepEqual([seen.dialogs[0]!.kind, seen.dialogs[0]!.message.length], ['alert', 1_000]);
  assert.match(seen.dialogs[0]!.message, /^a b c/);
  const acks = () => chromium.heard.filter(({ method }) => method === 'Page.screencastFrameAck').length;
  assert.equal(acks(), 0);
  opened.acknowledge();
  await until(() => acks() === 1);
});

test('what is no message of Chromium changes nothing', async () => {
  const params = { data: plainJpeg.toString('base64'), metadata: { deviceWidth: 1, deviceHeight: 1 }, sessionId: 1 };
  const frame = (more: object): string =>
    JSON.stringify({ method: 'Page.screencastFrame', params: { ...params, ...more } });
  const bad = [
    'not JSON',
    '7',
    'null',
    '[]',
    '{"method":"Page.screencastFrame"}',
    '{"method":"Page.screencastFrame","params":[]}',
    frame({ data: 7 }),
    frame({ data: '<script>' }),
    frame({ sessionId: 'x' }),
    frame({ sessionId: -1 }),
    frame({ metadata: { deviceWidth: 1e9, deviceHeight: 1 } }),
    frame({ metadata: { deviceWidth: 'x', deviceHeight: 1 } }),
    `{"method":"Page.screencastFrame","params":${'['.repeat(20)}${']'.repeat(20)}}`,
    `{"method":"Page.screencastFrame","params":[${'{},'.repeat(2_000)}0]}`,
    JSON.stringify({ method: 'Runtime.evaluate', params: { expression: 'x'.repeat(100_000) } }),
    JSON.stringify({ id: 1, result: { currentIndex: 1e9, entries: [{}] } }),
  ];
  chromium.onTab = (socket) => {
    for (const message of bad) socket.send(message);
    socket.send(Buffer.from(pictureOf(plainJpeg)), { binary: true });
  };
  const opened = await open();
  opened.goInHistory(1);
  chromium.onCommand = (socket, { method }) => {
    if (method === 'Page.reload') socket.send(pictureOf(plainJpeg));
  };
  opened.send('Page.reload');
  await until(() => seen.pictures.length === 1);
  assert.deepEqual(seen.dialogs, []);
  const asked = new Set(chromium.heard.map(({ method }) => method));
  assert.deepEqual([...asked], ['Page.startScreencast', 'Page.getNavigationHistory', 'Page.reload']);
});

test('a message that is too long ends the tab, and pictures that nobody asked for do too', async () => {
  chromium.onTab = (socket) => socket.send('x'.repeat(2 * 1024 * 1024));
  await open();
  await until(() => seen.closed === 1);
  chromium.onTab = (socket) => {
    for (let n = 0; n < 20; n += 1) socket.send(pictureOf(plainJpeg));
  };
  await open();
  await until(() => seen.closed === 1);
  assert.ok(seen.pictures.length <= 8);
});

test('a flood is not read, and the event loop stays free', async () => {
  let sent = 0;
  chromium.onTab = (socket) => {
    const flood = setInterval(() => {
      for (let n = 0; n < 500 && socket.bufferedAmount < 8e6; n += 1, sent += 1) socket.send('{"a":[{},{},{}]}');
      for (let n = 0; n < 4 && socket.bufferedAmount < 8e6; n += 1) socket.send(pictureOf(Buffer.alloc(900_000, 65)));
    }, 1);
    socket.once('close', () => clearInterval(flood));
  };
  const delay = monitorEventLoopDelay({ resolution: 5 });
  await open();
  delay.enable();
  const before = process.memoryUsage().rss;
  await sleep(1_500);
  delay.disable();
  assert.ok(sent > 1_000, `${sent} were sent`);
  assert.ok(delay.percentile(90) / 1e6 < 250, `${delay.percentile(90) / 1e6} ms`);
  assert.ok(process.memoryUsage().rss - before < 200e6);
  assert.deepEqual(seen.pictures, []);
});

test('a browser that never answers is left, and so is one that answers without end', async () => {
  chromium.answer = () => undefined;
  await assert.rejects(listTabs(chromium.dial, AbortSignal.timeout(100)));
  chromium.answer = (_, response) => {
    const more = setInterval(() => response.write('['.repeat(64 * 1024)), 1);
    response.once('close', () => clearInterval(more));
  };
  await assert.rejects(listTabs(chromium.dial, never), /more than 1048576 bytes/);
  chromium.answer = (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
  await assert.rejects(listTabs(chromium.dial, never), /answered 302/);
});
