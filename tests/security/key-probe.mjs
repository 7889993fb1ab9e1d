// Runs in a guest, as root: makes each attempt of the file given and says what came back, as JSON.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

const attempts = JSON.parse(await readFile(process.argv[2], 'utf8'));

const overWire = ({ host, port, from, sends }) =>
  new Promise((resolve) => {
    let said = '';
    const socket = connect({ host, port, ...(from && { localAddress: from }) });
    const end = (failure) => {
      socket.destroy();
      resolve({ said, failure });
    };
    socket.setTimeout(5000, () => end('silent'));
    socket.on('error', (error) => end(error.code));
    socket.on('close', () => end('closed'));
    socket.on('data', (bytes) => (said += bytes.toString('latin1')));
    socket.on('connect', () => {
      for (const { text, times = 1 } of sends) socket.write(Buffer.from(text.repeat(times), 'latin1'));
    });
  });

const inShell = (command) =>
  new Promise((resolve) => {
    const options = { timeout: 90_000, maxBuffer: 1 << 20 };
    execFile('/bin/sh', ['-c', command], options, (error, said) =>
      resolve({ said, failure: error ? 'failed' : 'closed' }),
    );
  });

// A sender's address must be on some link before it can be used.
const ip = (...args) => new Promise((resolve) => execFile('ip', ['address', ...args], () => resolve()));

const results = [];
for (const attempt of attempts) {
  const { from } = attempt;
  if (from) await ip('add', `${from}/32`, 'dev', 'lo');
  const { said, failure } = await (attempt.command ? inShell(attempt.command) : overWire(attempt));
  if (from) await ip('del', `${from}/32`, 'dev', 'lo');
  results.push({ said: said.slice(0, 20_000), failure });
}
console.log(JSON.stringify(results));
