/**
 * Strangers without a key, in a process of their own: `node strangers.mjs <what> <port> <count> [<address of loopback>]`. Prints a line
 * when all are there, goes on until its input ends, and prints then how often it has asked.
 */
import { connect } from 'node:net';

const [what, port, count, localAddress = '127.0.0.1'] = process.argv.slice(2);
const script = 'GET /docs/js/scalar.js HTTP/1.1\r\nHost: x\r\n\r\n';
let asked = 0;
let isOver = false;

function open(sends, onData) {
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress, allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(sends);
  if (onData) socket.on('data', onData);
  return socket;
}

/** Resolves when it is connected, or was refused. */
const settled = (socket) =>
  new Promise((resolve) => {
    for (const event of ['connect', 'close', 'error']) socket.once(event, resolve);
  });

const kinds = {
  /** A fifth each: nothing, half a head, a head that never ends, no HTTP at all, and an answer after which nothing follows. */
  async dead() {
    const sends = [
      '',
      'GET / HTTP/1.1\r\nHost: x\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\n',
      'none\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    ];
    const sockets = [];
    for (let i = 0; i < Number(count); i += 100) {
      const some = Array.from({ length: Math.min(100, Number(count) - i) }, (_, at) => open(sends[at % sends.length]));
      sockets.push(...some);
      await Promise.all(some.map(settled));
    }
    setInterval(() => {
      for (let i = 2; i < sockets.length; i += 5) if (sockets[i].writable) sockets[i].write('X-Drip: 1\r\n');
    }, 1000).unref();
  },
  async stalled() {
    const sockets = Array.from({ length: Number(count) }, () => open(script));
    await Promise.all(sockets.map(settled));
  },
  async resets() {
    const one = () => {
      if (isOver) return;
      const socket = open(script, () => {
        asked += 1;
        socket.resetAndDestroy();
      });
      socket.once('close', () => setImmediate(one));
    };
    for (let i = 0; i < Number(count); i += 1) one();
  },
};

process.stdin.resume().on('end', () => {
  isOver = true;
  process.stdout.write(`${asked}\n`, () => process.exit());
});
await kinds[what]();
process.stdout.write('there\n');
