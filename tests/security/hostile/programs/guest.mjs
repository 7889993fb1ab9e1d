// Runs in a guest, as root: goes on with one attack for so many milliseconds and says, as JSON, what came of it.
//   node guest.mjs <attack> <milliseconds>
import { execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { appendFileSync, closeSync, fsyncSync, mkdirSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const [attack, milliseconds] = [process.argv[2], Number(process.argv[3])];
const until = Date.now() + milliseconds;
const goesOn = () => Date.now() < until;
const host = '10.0.2.2';
const port = 4000;
const MiB = 1 << 20;
const log = '/var/log/lodge/runtime.log';
const counts = {};
const tell = (what) => (counts[what] = (counts[what] ?? 0) + 1);

/** One request to the broker; resolves with its status, or with what ended it. */
const post = (body, { path = '/openai/v1/chat/completions', method = 'POST', headers = {}, leaveAfterMs } = {}) =>
  new Promise((resolve) => {
    const end = (what) => {
      tell(what);
      resolve(what);
    };
    const options = { host, port, path, method, headers: { 'content-type': 'application/json', ...headers } };
    const req = request({ ...options, timeout: 20_000 }, (res) => {
      res.resume();
      if (leaveAfterMs !== undefined) tell(res.statusCode);
      res.on('end', () => end(res.statusCode));
      res.on('error', () => end('cut'));
    });
    req.on('timeout', () => req.destroy(new Error('silent')));
    req.on('error', ({ code, message }) => end(code ?? message));
    if (leaveAfterMs !== undefined) setTimeout(() => req.destroy(new Error('left')), leaveAfterMs);
    req.end(body);
  });

/** So many at once, again and again. */
const again = (count, work) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      while (goesOn()) await work();
    }),
  );
const chat = (fields) => JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'x' }], ...fields });
const messages = (text) => `{"model":"default","messages":${text}}`;
const mcp = { path: '/mcp', headers: { accept: 'application/json, text/event-stream' } };
const tool = (method, params = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const posts = (count, body, options) => again(count, () => post(body, options));

/** Opens connections and leaves them as `use` does; closes them at the end. */
async function hold(count, use, to = { host, port }) {
  const sockets = [];
  for (let i = 0; i < count && goesOn(); i += 1) {
    const socket = connect(to);
    socket.on('error', ({ code }) => tell(code));
    socket.on('connect', () => use(socket));
    socket.on('close', () => tell('closed'));
    sockets.push(socket);
    if (i % 32 === 31) await sleep(5);
  }
  while (goesOn()) await sleep(50);
  for (const socket of sockets) socket.destroy();
}

/** Appends to the runtime's log what is not a log's. The file stays within bounds that the guest's disk has. */
async function writes(text, bytesPerSecond = 4 * MiB) {
  const each = Math.max(1, Math.floor(bytesPerSecond / 20 / text.length));
  const piece = text.repeat(each);
  let size = 0;
  while (goesOn()) {
    appendFileSync(log, piece);
    size += piece.length;
    if (size > 64 * MiB) {
      truncateSync(log, 0);
      size = 0;
    }
    tell('pieces');
    await sleep(50);
  }
}

const shell = (command) =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: 'ignore', detached: true });
    const end = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
    const timer = setTimeout(end, Math.max(1, until - Date.now()));
    child.on('exit', (code) => {
      clearTimeout(timer);
      tell(`exit ${code}`);
      resolve();
    });
  });

function datagrams(to, size, ports) {
  const socket = createSocket('udp4');
  socket.on('error', ({ code }) => tell(code));
  const bytes = Buffer.alloc(size, 97);
  return (async () => {
    for (let i = 0; goesOn(); i += 1) {
      await new Promise((resolve) => {
        socket.send(bytes, ports(i), to(i), (error) => {
          tell(error ? error.code : 'sent');
          resolve();
        });
      });
      if (i % 64 === 63) await sleep(0);
    }
    socket.close();
  })();
}

/** Writes a file as fast as the disk takes it, up to `most` bytes, and frees it again. */
async function fills(path, most, { sync = false } = {}) {
  const bytes = Buffer.alloc(MiB, Math.floor(Math.random() * 255));
  try {
    const file = openSync(path, 'w');
    for (let size = 0; goesOn() && size < most; size += MiB) {
      bytes.writeUInt32LE(size, 0);
      writeSync(file, bytes);
      if (sync) fsyncSync(file);
      tell('MiB');
      if ((size / MiB) % 16 === 15) await sleep(0);
    }
    closeSync(file);
  } catch ({ code }) {
    tell(code);
  }
  rmSync(path, { force: true });
  while (goesOn()) await sleep(20);
}

const attacks = {
  // Text that a careless reader takes long for.
  'base64 runs': () => posts(4, chat({ messages: [{ role: 'user', content: `${'A'.repeat(2047)} `.repeat(4000) }] })),
  'empty lists': () => posts(4, messages(`[${'[],'.repeat(2_600_000)}[]]`)),
  'empty objects': () => posts(4, messages(`[${'{},'.repeat(2_600_000)}{}]`)),
  'deep lists': () => posts(4, messages('['.repeat(4 * MiB) + ']'.repeat(4 * MiB))),
  'deep objects': () => posts(4, messages('{"a":'.repeat(MiB) + '1' + '}'.repeat(MiB))),
  numbers: () => posts(4, messages(`[${'1e9,'.repeat(2_000_000)}1]`)),
  escapes: () => posts(4, chat({}).replace('"x"', `"${String.raw`\u0061`.repeat(1_300_000)}"`)),
  backslashes: () => posts(4, messages(`"${'\\\\'.repeat(4 * MiB - 64)}"`)),
  quotes: () => posts(4, messages(`"${'\\"'.repeat(4 * MiB - 64)}"`)),
  'an open string': () => posts(4, `{"model":"default","messages":"${'a'.repeat(8 * MiB - 64)}`),
  'many fields': () => {
    let fields = '';
    for (let i = 0; i < 400_000; i += 1) fields += `"field${i}":1,`;
    return posts(4, `{${fields}"model":"default","messages":[]}`);
  },
  'a field twice at the end': () => posts(4, chat({ messages: 'a'.repeat(7 * MiB) }).replace(/\}$/, ',"model":"x"}')),
  spaces: () => posts(4, `{"model":"default","messages":[]${' '.repeat(8 * MiB - 64)}}`),
  'bytes that are no text': () => posts(4, Buffer.alloc(8 * MiB - 64, 0xff)),
  'a long model': () => posts(4, JSON.stringify({ model: 'm/'.repeat(3 * MiB), messages: [] })),
  'terminal sequences in the log': () => writes(`${'\u001b];a'.repeat(64 * 1024)}\n`),
  'half tokens in the log': () => writes(`${'_eyJ'.repeat(64 * 1024)}\n`),
  'carriage returns in the log': () => writes(`${'\r'.repeat(200_000)}x\n`),
  'a log without lines': () => writes('a'.repeat(MiB), 16 * MiB),
  'a log of short lines': () => writes('x\n', 8 * MiB),
  'a log of key-like words': () => writes(`sk-${'a1'.repeat(300)} Bearer ${'b'.repeat(200)} password=\n`, 8 * MiB),
  'a log of bytes that are no text': () => writes('\ud800\u0000\u0007', 4 * MiB),
  'a console that never stops': () =>
    shell('while :; do echo "$(head -c 60000 /dev/zero | tr "\\0" a)" > /dev/console; done'),

  // Places and bytes that others want.
  'bodies that never come': () =>
    hold(64, (socket) => {
      socket.write('POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 8000000\r\n\r\n{');
    }),
  'bodies a byte at a time': () =>
    hold(32, (socket) => {
      socket.write('POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
      const timer = setInterval(() => socket.write('1\r\n \r\n'), 2);
      socket.on('close', () => clearInterval(timer));
    }),
  'a body without end': () =>
    hold(16, (socket) => {
      socket.write('POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
      const piece = `10000\r\n${' '.repeat(65_536)}\r\n`;
      const more = () => {
        while (goesOn() && !socket.destroyed && socket.write(piece));
      };
      socket.on('drain', more);
      more();
    }),
  'headers without end': () =>
    hold(32, (socket) => {
      socket.write('GET / HTTP/1.1\r\n');
      const timer = setInterval(() => socket.write(`x: ${'y'.repeat(1000)}\r\n`), 5);
      socket.on('close', () => clearInterval(timer));
    }),
  'a thousand connections': () => hold(1000, () => {}),
  'answers that nobody reads': () =>
    hold(16, (socket) => {
      const body = chat({ stream: true, lots: true });
      socket.write(
        `POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      socket.pause();
    }),
  'large bodies at once': () => posts(16, chat({ messages: [{ role: 'user', content: 'a b '.repeat(1.9 * MiB) }] })),
  'requests for nothing': () => posts(16, '', { path: '/nothing', method: 'GET' }),
  'the list of models': () => posts(16, '', { path: '/openai/v1/models', method: 'GET' }),
  'all of the memory': () => shell('node -e "const a=[];for(;;)a.push(Buffer.alloc(1<<24,1))"'),
  'processes without end': () => shell('ulimit -u 4000; f() { f | f & }; f; sleep 60'),
  'every core': () => shell('for i in 1 2 3 4; do (while :; do :; done) & done; wait'),

  // The host reads and keeps answers of services that are the guest's accomplices.
  'answers of a connection': () => {
    const [path, method] = ['/connections/answers/hexadecimal', 'GET'];
    return again(8, () => post('', { path, method, leaveAfterMs: until - Date.now() }));
  },
  'answers of a server of MCP': () => posts(8, tool('tools/call', { name: 'tools__hex0', arguments: {} }), mcp),
  'lists of tools': () => posts(8, tool('tools/list'), mcp),
  'lists of tools that nobody reads': () =>
    hold(32, (socket) => {
      const body = tool('tools/list');
      const accept = 'application/json, text/event-stream';
      socket.pause();
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\naccept: ${accept}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    }),

  // Disk.
  // Rows and contents that the host's database would keep of what it refuses.
  'refused calls that are recorded': () =>
    posts(4, chat({ model: 'stub/unpriced', messages: [{ role: 'user', content: 'x'.repeat(250_000) }] })),
  'schedules made': () =>
    posts(
      4,
      tool('tools/call', { name: 'schedule_create', arguments: { name: 'n', prompt: 'p', in_minutes: 10 } }),
      mcp,
    ),
  'a full disk': () => fills('/srv/full', 1024 * MiB),
  'writes that are synced': () => fills('/srv/synced', 1024 * MiB, { sync: true }),
  'small files': async () => {
    mkdirSync('/srv/many', { recursive: true });
    for (let i = 0; goesOn() && i < 50_000; i += 1) {
      closeSync(openSync(`/srv/many/${i}`, 'w'));
      if (i % 100 === 99) await sleep(0);
      tell('files');
    }
    rmSync('/srv/many', { recursive: true, force: true });
    while (goesOn()) await sleep(20);
  },
  'writes and sync by many': () =>
    Promise.all([0, 1, 2, 3].map((i) => fills(`/srv/synced${i}`, 256 * MiB, { sync: true }))),
  'drivers that are taken away and put back': () =>
    shell(
      'd=/sys/bus/virtio/drivers/virtio_rng; v=$(ls $d | grep ^virtio | head -1); while :; do echo $v > $d/unbind; echo $v > $d/bind; done',
    ),

  // Network. The guest's traffic goes to addresses kept for documentation, where nobody is.
  'connections to everywhere': () => {
    let i = 0;
    return again(64, async () => {
      i += 1;
      const socket = connect({ host: `198.51.100.${i % 250}`, port: 1024 + (i % 60_000) });
      socket.on('error', () => {});
      await sleep(20);
      socket.destroy();
      tell('tried');
    });
  },
  datagrams: () =>
    datagrams(
      (i) => `203.0.113.${i % 250}`,
      1200,
      (i) => 1 + (i % 65_000),
    ),
  'small datagrams': () =>
    datagrams(
      () => '203.0.113.9',
      1,
      () => 9,
    ),
  'names without end': () =>
    datagrams(
      () => '9.9.9.9',
      60,
      () => 53,
    ),
  'datagrams at the host': () =>
    datagrams(
      () => host,
      1200,
      (i) => 1 + (i % 65_000),
    ),
  'every port of the host': () => {
    let i = 0;
    return again(64, async () => {
      i += 1;
      const socket = connect({ host, port: 1 + (i % 65_000) });
      socket.on('error', ({ code }) => tell(code));
      await sleep(10);
      socket.destroy();
    });
  },
  pings: () => shell('ip link show >/dev/null; while :; do busybox ping -c 100 -A -s 1400 203.0.113.9 || :; done'),

  // Money.
  'a model without a price': () => posts(4, chat({ model: 'stub/unpriced' })),
  'models without end': () => {
    let i = 0;
    return again(8, () => post(chat({ model: `stub/m${(i += 1)}` })));
  },
  'fields spelled otherwise': () =>
    posts(4, String.raw`{"model":"default","messages":[{"role":"user","content":"x"}],"stre\u0061m":true}`),
  'answers at the hundredfold': () => posts(4, chat({ n: 100 })),
  'a dearer tier': () => posts(4, chat({ service_tier: 'priority' })),
  'calls that are left': () => again(8, () => post(chat({ stream: true, lots: true }), { leaveAfterMs: 30 })),
};

const run = attacks[attack];
if (!run) throw new Error(`there is no attack ${attack}`);
process.on('uncaughtException', (error) => tell(error.code ?? error.message));
await run();
await new Promise((resolve) => execFile('/bin/true', () => resolve()));
console.log(JSON.stringify(counts));
process.exit(0);
