/**
 * Takes Hermes agents through every verb, for a Lodge on this machine.
 *   round.ts first LIVES   create to resize, the control plane killed, then so many lives; leaves one running and one stopped
 *   round.ts again         after the machine has started again: both are back
 * ROUND_URL, ROUND_KEY, ROUND_DATA_DIR and ROUND_ACCELERATOR name Lodge and its accelerator; ROUND_KILL is a command that
 * kills it; ROUND_FILE keeps the facts for the second form. The agents' provider is this program, at port 4010.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { startStubLlm } from '@lodge/testkit/llm';
import { stubAnswer } from '../../../apps/server/src/cli/stub-llm-answers.ts';
import { Lodge } from './lodge.ts';

interface Kept {
  readonly runs: string;
  readonly sleeps: string;
  readonly word: string;
}

const question = 'Which word was it?';
/** Events of an agent's machine that ended by itself, or that Lodge gave up. */
const unexpected = /^agent\.(?:crashed|error|gateway_unhealthy|restore_failed|resume_failed|start_failed|stop_failed)/;

const tell = (what: string): void => void process.stdout.write(`${what}\n`);
const setting = (name: string): string => {
  const value = process.env[`ROUND_${name}`];
  assert.ok(value, `ROUND_${name} is not set`);
  return value;
};
const lodge = new Lodge(
  {
    baseUrl: setting('URL'),
    apiKey: setting('KEY'),
    dataDir: setting('DATA_DIR'),
    accelerator: setting('ACCELERATOR'),
  },
  tell,
);

const provider = await startStubLlm({ port: 4010 });
// It knows the word only when the agent's own conversation contains it.
provider.rule(({ lastUserText, body }) =>
  lastUserText.includes(question)
    ? { text: `It was ${/word-[0-9a-f]{12}/.exec(JSON.stringify(body))?.[0] ?? 'never told'}.` }
    : undefined,
);
provider.rule(stubAnswer);
const [form, lives = '5'] = process.argv.slice(2);
try {
  await step('API answers', () => lodge.up());
  if (form === 'again') await again(JSON.parse(await readFile(setting('FILE'), 'utf8')) as Kept);
  else await writeFile(setting('FILE'), JSON.stringify(await first(Number(lives))));
} finally {
  await provider.close();
}

async function first(lifeCount: number): Promise<Kept> {
  const word = `word-${randomBytes(6).toString('hex')}`;
  const runs = await step('create', () => lodge.create('Runs'));
  await step('a command by a chat', () => works(runs));
  await step('a word is told', () => lodge.chat(runs, `The word is ${word}.`));
  const recalls = (after: string): Promise<void> => step(`recalls after ${after}`, () => recall(runs, word));
  await step('pause', () => lodge.act(runs, 'pause', 'paused'));
  await step('resume', () => lodge.act(runs, 'resume', 'running'));
  await recalls('the pause');
  await step('stop', () => lodge.act(runs, 'stop', 'stopped'));
  assert.equal(await lodge.pid(runs), null);
  await step('start', () => lodge.act(runs, 'start', 'running'));
  await recalls('the stop');
  await step('restart', () => lodge.act(runs, 'restart', 'running'));
  await recalls('the restart');
  await step('resize', () => lodge.resize(runs, 'medium', 2));
  await step('the control plane is killed, and takes the agent over', () => adopt(runs));
  await recalls('the kill');
  for (let life = 1; life <= lifeCount; life += 1) await step(`life ${life}`, () => live(life));
  const sleeps = await step('create another', () => lodge.create('Sleeps'));
  await step('a word is told', () => lodge.chat(sleeps, `The word is ${word}.`));
  await step('stop', () => lodge.act(sleeps, 'stop', 'stopped'));
  await assertQuiet(runs);
  await assertQuiet(sleeps);
  return { runs, sleeps, word };
}

async function again({ runs, sleeps, word }: Kept): Promise<void> {
  await step('the one that ran runs', () => lodge.reaches(runs, 'running'));
  await step('it recalls', () => recall(runs, word));
  await step('the one that was stopped is', () => lodge.reaches(sleeps, 'stopped'));
  await step('start', () => lodge.act(sleeps, 'start', 'running'));
  await step('it recalls', () => recall(sleeps, word));
  for (const id of [runs, sleeps]) for (const event of await lodge.events(id)) tell(`    ${id} ${event}`);
  for (const id of [runs, sleeps]) await step('delete', () => lodge.remove(id));
}

async function live(number: number): Promise<void> {
  const id = await step('  create', () => lodge.create(`Life ${number}`));
  await step('  a command by a chat', () => works(id));
  await step('  pause', () => lodge.act(id, 'pause', 'paused'));
  await step('  stop', () => lodge.act(id, 'stop', 'stopped'));
  await step('  start', () => lodge.act(id, 'start', 'running'));
  await step('  a command by a chat', () => works(id));
  await assertQuiet(id);
  await step('  delete', () => lodge.remove(id));
}

async function works(id: string): Promise<void> {
  const number = randomBytes(3).readUIntBE(0, 3);
  // Only the runner of the command knows the sum.
  const said = await lodge.chat(id, `run: echo sum=$((${number} + 1))`);
  assert.ok(said.includes(`sum=${number + 1}`), said);
}

async function recall(id: string, word: string): Promise<void> {
  const said = await lodge.chat(id, question);
  assert.ok(said.includes(word), said);
}

async function adopt(id: string): Promise<void> {
  const pid = await lodge.pid(id);
  await promisify(execFile)('sh', ['-c', setting('KILL')]);
  await lodge.down();
  await lodge.up();
  await lodge.reaches(id, 'running');
  assert.equal(await lodge.pid(id), pid, 'the machine ran on');
}

async function assertQuiet(id: string): Promise<void> {
  const bad = (await lodge.events(id)).filter((event) => unexpected.test(event));
  assert.deepEqual(bad, []);
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  try {
    return await work();
  } finally {
    tell(`${((performance.now() - since) / 1000).toFixed(1).padStart(8)} s  ${name}`);
  }
}
