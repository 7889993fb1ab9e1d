// Runs in a guest in the place of its daemon: what a root who has put his own there answers to the host.
import { createServer } from 'node:http';

const MiB = 1 << 20;
const health = { protocol: 1, uptimeSeconds: 1, cpusOnline: 1, memoryTotalMib: 2048 };

/** By path, what is said; everything else is silence. */
const answers = {
  '/v1/health': () => JSON.stringify({ ...health, x: '[],'.repeat(100_000) }),
  '/v1/clock': () => '{}',
  '/v1/sync': () => '{}',
  '/v1/logs': () => JSON.stringify({ text: '_eyJ\u001b];a\r'.repeat(25_000), nextOffset: Number.MAX_SAFE_INTEGER }),
  '/v1/workspace/list': () => `{"entries":[${'{},'.repeat(3 * MiB)}{}],"more":true}`,
  '/v1/exec': () =>
    JSON.stringify({ exitCode: 0, signal: null, stdout: '"\\'.repeat(2 * MiB), stderr: '\u0007'.repeat(MiB) }),
};

createServer((req, res) => {
  req.resume();
  const answer = answers[new URL(req.url, 'http://x').pathname];
  if (!answer) return;
  res.writeHead(200, { 'content-type': 'application/json', 'x-guestd-protocol': '1' }).end(answer());
}).listen(8080, '0.0.0.0');
