/** Fills a new agent: its files, its conversations and its channels. The end names each thing that was refused; the rest goes on. */
import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Lodge } from '@lodge/sdk';
import { pooled } from '../apply/pool.ts';
import type { Run } from '../run.ts';
import type { Progress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe.ts';
import type { Found, FoundChannel } from './found.ts';
import { parcel, takeInScript } from './take-in.ts';

const pieceBytes = 32 * 1024 * 1024;
const takeInSeconds = 600;
/** Each small file is a round trip, so some go at once. */
const filesAtOnce = 4;

export interface Filling {
  readonly secrets: ReadonlyMap<string, string>;
  readonly progress: Progress;
}
export interface Filled {
  /** Files that are in the agent's machine. */
  readonly files: number;
  readonly conversations: readonly string[];
}

export async function fill(run: Run, lodge: Lodge, id: string, found: Found, filling: Filling): Promise<Filled> {
  const { secrets, progress } = filling;
  const files = await putFiles(run, lodge, id, found, (done) =>
    progress.say(`Putting its files, ${done} of ${found.files.length}`),
  );
  let conversations: readonly string[] = [];
  if (found.database !== null || found.older.length > 0) {
    progress.say('Taking its conversations in');
    conversations = await takeIn(run, lodge, id, found);
  }
  for (const channel of found.channels) await connect(run, lodge, id, found, channel, secrets);
  return { files, conversations };
}

type Putting = Pick<Found, 'files' | 'leftOut'>;

async function putFiles(
  run: Run,
  lodge: Lodge,
  id: string,
  { files, leftOut }: Putting,
  say: (done: number) => void,
): Promise<number> {
  let put = 0;
  await pooled(files, filesAtOnce, run.signal, async ({ from, to }) => {
    try {
      await lodge.files.write(id, to, await openAsBlob(from), run.call);
    } catch (error) {
      const reason = ofThisFile(error);
      if (reason === null) throw error;
      leftOut.add(to, reason);
      return;
    }
    put += 1;
    if (run.out.isErrTty) say(put);
  });
  return put;
}

/** Says what is wrong with one file; null where the next would fail as well. */
function ofThisFile(error: unknown): string | null {
  const { code, status, message } = error as { code?: unknown; status?: unknown; message?: unknown };
  if (status === 400 || status === 413 || code === 'file_conflict') return safeLine(String(message), 300);
  const isGone = ['ENOENT', 'EACCES', 'ERR_INVALID_ARG_VALUE', 'NotReadableError'].includes(String(code));
  return isGone ? 'it cannot be read' : null;
}

/** Sends the database in pieces that the API takes, and older files, and has the machine put them in their place. */
async function takeIn(run: Run, lodge: Lodge, id: string, found: Found): Promise<readonly string[]> {
  const { database, older, leftOut } = found;
  if (database !== null) await sendPieces(run, lodge, id, database.file, 'db');
  if (database !== null && database.log !== null) await sendPieces(run, lodge, id, database.log, 'log');
  const files = older.map((each) => ({ ...each, to: `${parcel}/sessions/${each.to}` }));
  await putFiles(run, lodge, id, { files, leftOut }, () => undefined);
  await lodge.files.write(id, `${parcel}/take-in.py`, takeInScript, run.call);
  const { exit_code: exitCode, stdout } = await lodge.exec.run(
    id,
    {
      argv: ['python3', `/workspace/${parcel}/take-in.py`, found.runtime, found.agent],
      timeout_seconds: takeInSeconds,
    },
    run.call,
  );
  const said = answerOf(stdout);
  if (exitCode === 0 && said.conversations !== undefined) return said.conversations;
  found.leftOut.add('conversations', said.error ?? 'the machine could not take them in');
  await lodge.files.delete(id, parcel, { ...run.call, recursive: true }).catch(() => undefined);
  return [];
}

const maxAnswerChars = 100_000;

/** The machine is the agent's own, so its answer is read with care. */
function answerOf(stdout: string): { conversations?: readonly string[]; error?: string } {
  try {
    const said = JSON.parse(stdout.slice(0, maxAnswerChars)) as Readonly<Record<string, unknown>>;
    const { conversations, error } = said;
    return {
      ...(Array.isArray(conversations) && { conversations: conversations.map(String) }),
      ...(typeof error === 'string' && { error: error.slice(0, 500) }),
    };
  } catch {
    return {};
  }
}

async function sendPieces(run: Run, lodge: Lodge, id: string, path: string, name: string): Promise<void> {
  const file = await open(path);
  try {
    for (let piece = 0; ; piece += 1) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(pieceBytes), 0, pieceBytes, piece * pieceBytes);
      if (bytesRead === 0 && piece > 0) break;
      const bytes = buffer.subarray(0, bytesRead);
      await lodge.files.write(id, `${parcel}/${name}.part${String(piece).padStart(5, '0')}`, bytes, run.call);
      if (bytesRead < pieceBytes) break;
    }
  } finally {
    await file.close();
  }
}

async function connect(
  run: Run,
  lodge: Lodge,
  id: string,
  found: Found,
  { name, settings, secrets: fields }: FoundChannel,
  secrets: ReadonlyMap<string, string>,
): Promise<void> {
  const given = fields.map((field) => [field, secrets.get(`${name}.${field}`)] as const);
  if (given.some(([, value]) => value === undefined))
    return found.leftOut.add(`channel ${name}`, 'a secret is missing');
  try {
    await lodge.channels.put(id, name, { ...settings, ...Object.fromEntries(given) }, run.call);
  } catch (error) {
    if (run.signal.aborted) throw error;
    found.leftOut.add(`channel ${name}`, error instanceof Error ? safeLine(error.message, 300) : 'it was refused');
  }
}
