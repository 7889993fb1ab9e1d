/**
 * Makes a Node process draw random values through its inspector, on its main thread and each of its workers. The arguments
 * are its process id, the number of values, and a mark that each thread keeps which has none. Prints by thread, as JSON, the
 * values and the mark: a thread with the mark of another agent is a copy of that agent's. Workers that end meanwhile are left
 * out. Runs in the guest, as root.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const [, , pid, count, mark] = process.argv;
const draw = `(() => {
  const crypto = process.getBuiltinModule('node:crypto');
  if (/native code/.test(String(Math.random))) throw new Error('Math.random is still that of V8');
  const since = (globalThis.lodgeDrawsSince ??= ${JSON.stringify(mark)});
  const values = Array.from({ length: ${count} }, () => ({
    randomUUID: crypto.randomUUID(),
    webUUID: globalThis.crypto.randomUUID(),
    randomBytes: crypto.randomBytes(16).toString('hex'),
    random: Math.random(),
    randomInt: crypto.randomInt(2 ** 47),
  }));
  return { since, values };
})()`;

/** Said when it takes too long. */
let stage = 'the inspector';
setTimeout(() => {
  console.error(`it waited in vain for ${stage}`);
  process.exit(1);
}, 240_000).unref();

process.kill(Number(pid), 'SIGUSR1');
let target;
while (target === undefined) {
  await sleep(50);
  target = await fetch('http://127.0.0.1:9229/json/list').then(
    async (reply) => (await reply.json())[0],
    () => undefined,
  );
}
const socket = new WebSocket(target.webSocketDebuggerUrl);
const waiting = new Map();
/** The end of each worker, which may come before its answer, by its session. */
const workers = new Map();
let calls = 0;
socket.addEventListener('message', ({ data }) => {
  const { id, method, params, result } = JSON.parse(data);
  if (method === 'NodeWorker.attachedToWorker') workers.set(params.sessionId, Promise.withResolvers());
  if (method === 'NodeWorker.detachedFromWorker') workers.get(params.sessionId)?.resolve();
  const answer = method === 'NodeWorker.receivedMessageFromWorker' ? JSON.parse(params.message) : { id, result };
  waiting.get(answer.id)?.(answer.result);
});
await new Promise((resolve) => socket.addEventListener('open', resolve));

const call = (send, method, params) => {
  const id = (calls += 1);
  const answered = new Promise((resolve) => waiting.set(id, resolve));
  send(JSON.stringify({ id, method, params }));
  return answered;
};
const toMain = (message) => socket.send(message);
const toWorker = (sessionId) => (message) =>
  void call(toMain, 'NodeWorker.sendMessageToWorker', { sessionId, message });
const evaluate = async (send, expression) => {
  const { result, exceptionDetails } = await call(send, 'Runtime.evaluate', {
    expression,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(result.description ?? 'it was ended');
  return result.value;
};

stage = 'the main thread';
await call(toMain, 'NodeWorker.enable', { waitForDebuggerOnStart: false });
const threads = { main: await evaluate(toMain, draw) };
for (const [index, [session, { promise: end }]] of [...workers].entries()) {
  stage = `worker ${index}`;
  // One that is ended in the midst of it answers so, or not at all.
  const drawn = await Promise.race([end, evaluate(toWorker(session), draw)]).catch((error) => {
    if (error.message !== 'it was ended') throw error;
  });
  if (drawn) threads[`worker ${index}`] = drawn;
}
// The inspected process closes the connection with its inspector. Its values are told already.
socket.addEventListener('close', () => process.exit());
setTimeout(() => process.exit(), 10_000);
process.stdout.write(JSON.stringify(threads), () => {
  void evaluate(toMain, "process.getBuiltinModule('node:inspector').close()");
});
