'use strict';
/** Runs in a guest from before its memory is saved, as a runtime does: draws all the while, and much when it is told to (SIGUSR2). */
const crypto = require('node:crypto');
const events = require('node:events');
const fs = require('node:fs');
const { isMainThread, parentPort, Worker } = require('node:worker_threads');

/** The first and the last of a generation. */
const kept = 50;
let previous = [];
let current = { generation: '', values: [] };

const draw = () => ({
  randomUUID: crypto.randomUUID(),
  webUUID: globalThis.crypto.randomUUID(),
  randomBytes: crypto.randomBytes(16).toString('hex'),
  random: Math.random(),
  randomInt: crypto.randomInt(2 ** 47),
});
const generation = () => {
  try {
    return fs.readFileSync('/run/lodge/generation', 'utf8');
  } catch {
    return '';
  }
};
const all = (count) => {
  const { publicKey } = crypto.generateKeyPairSync('ed25519');
  return {
    before: previous,
    after: current.values,
    many: Array.from({ length: count }, draw),
    key: publicKey.export({ format: 'jwk' }).x,
  };
};

setInterval(() => {
  const now = generation();
  if (now !== current.generation) {
    previous = current.values;
    current = { generation: now, values: [] };
  }
  const values = draw();
  // The machine was saved in the midst of it: some of them are of the earlier generation.
  if (generation() !== now) return;
  current.values.push(values);
  if (current.values.length > 2 * kept) current.values.splice(kept, 1);
}, 20);

if (isMainThread) {
  const folder = process.argv[2];
  const count = Number(process.argv[3]);
  const workers = { worker: new Worker(__filename), 'worker without variables': new Worker(__filename, { env: {} }) };
  const each = (take) => Promise.all(Object.entries(workers).map(async ([name, worker]) => [name, await take(worker)]));
  const write = async () => {
    const drawn = await each((worker) => {
      worker.postMessage(count, []);
      return events.once(worker, 'message').then(([values]) => values);
    });
    fs.writeFileSync(`${folder}/new`, JSON.stringify({ main: all(count), ...Object.fromEntries(drawn) }));
    fs.renameSync(`${folder}/new`, `${folder}/values`);
  };
  process.on('SIGUSR2', () => void write());
  void each((worker) => events.once(worker, 'online')).then(() =>
    fs.writeFileSync(`${folder}/pid`, String(process.pid)),
  );
} else {
  parentPort.on('message', (count) => parentPort.postMessage(all(count), []));
}
