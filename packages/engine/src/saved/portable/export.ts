/** An agent as one file: `lodge-agent.json` and its folders as a tar.gz, sealed where a passphrase is given. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Refusal, admitSave, sizes } from '@lodge/domain';
import type { ActorNote, CarriedData, ScratchFile } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { refusal } from '../../agents/act.ts';
import { awaitAgent } from '../../agents/await-agent.ts';
import { beginOperation } from '../../agents/decisions.ts';
import { notFound } from '../../agents/reading.ts';
import type { Bytes } from './bytes.ts';
import { Contents, contentBounds, copied, portable, shown } from './contents.ts';
import type { PortableDeps } from './deps.ts';
import type { ReadOutcome } from './exports.ts';
import { describeAgent, manifestBytes, manifestName } from './manifest.ts';
import type { Manifest, Missing, Words } from './manifest.ts';
import { ImportProblem } from './problem.ts';
import { readSnapshot } from './read-snapshot.ts';
import type { Place } from './read-snapshot.ts';
import { seal } from './seal.ts';
import { TarReader, endBytes, headerBytes, paddingBytes } from './tar.ts';
import type { TarEntry } from './tar.ts';

export interface ExportOptions {
  /** A snapshot of the agent, by its id or by `before_last_turn`; null: its present. */
  readonly snapshot: string | null;
  readonly passphrase: string | null;
  readonly words: Words;
  /** Whether a stopped agent is started for it; its snapshots need no agent. */
  readonly wake: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note?: ActorNote;
}

export interface Export {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const busyRetrySeconds = 10;
const gzipLevel = 6;
/** Names of files that are left out; the manifest has no more of them. */
const maxLeftOut = 100;

/**
 * Reads the agent and returns it as a file. Refuses with `agent_not_found`, `agent_not_running`, `agent_transitioning`,
 * `agent_busy` or `insufficient_capacity`, and of a snapshot as `readSnapshot` does. The file on the host ends with the bytes,
 * however they end.
 */
export async function exportAgent(
  deps: PortableDeps,
  accountId: string,
  agentId: string,
  options: ExportOptions,
): Promise<Export> {
  const { snapshot, words } = options;
  const scratch = await deps.parts.files.scratch();
  try {
    const place = { accountId, agentId };
    const row = await (snapshot === null
      ? readPresent(deps, place, scratch, options)
      : readSnapshot(deps, place, scratch, { ...options, snapshot }));
    const data = deps.runtimes.get(row.runtimeKind)!.data;
    const leftOut = await lookThrough(scratch, data, row);
    const described = await deps.database.repeatable((db) => describeAgent(db, row, words));
    const manifest = { ...described, missing: [...described.missing, ...leftOut].slice(0, 1_000) };
    return { name: row.name, bytes: closing(fileOf(scratch, data, row, manifest, options.passphrase), scratch) };
  } catch (error) {
    await scratch.close();
    throw error;
  }
}

async function readPresent(
  deps: PortableDeps,
  place: Place,
  scratch: ScratchFile,
  options: ExportOptions,
): Promise<AgentRow> {
  const { wake, timeoutMs, signal } = options;
  const live = await deps.agents.use(place.accountId, place.agentId, { wake, timeoutMs, signal });
  await readQuietly(deps, place, scratch, options).finally(() => live.release());
  return deps.agents.get(place.accountId, place.agentId);
}

/** Has the agent's folders read while it is quiet. */
async function readQuietly(
  deps: PortableDeps,
  { accountId, agentId }: Place,
  scratch: ScratchFile,
  { signal, note }: ExportOptions,
): Promise<void> {
  const over = new AbortController();
  const outcome = Promise.withResolvers<ReadOutcome>();
  const waited = AbortSignal.any([signal, over.signal]);
  if (!deps.exports.add(agentId, { scratch, signal: waited, end: outcome.resolve })) {
    throw new Refusal('agent_transitioning', 'The agent is being exported already.', { agentId });
  }
  try {
    await begin(deps, { accountId, agentId }, note);
    // The operation may end without the export: its machine died, say, or the agent was deleted.
    const ended = awaitAgent(deps, agentId, (row) => row?.operation?.kind !== 'snapshot', forever, waited);
    const notTaken = ended.then(() => (deps.exports.isTaken(agentId) ? outcome.promise : undefined));
    const found = await Promise.race([outcome.promise, notTaken]);
    signal.throwIfAborted();
    if (found === undefined) throw new Refusal('internal_error', 'The agent was not exported: its machine ended.');
    if (found !== null) throw refusalOf(found, agentId);
  } finally {
    over.abort();
    deps.exports.remove(agentId);
  }
}

const forever = 2 ** 31 - 1;

async function begin(deps: PortableDeps, { accountId, agentId }: Place, note: ActorNote | undefined): Promise<void> {
  const asked = note && { ...note, event: { type: 'agent.export_requested', data: {} } as const };
  const begun = await beginOperation(
    deps.database,
    agentId,
    'request',
    ({ row }) => {
      if (row.accountId !== accountId) throw notFound(agentId);
      const admission = admitSave(row, true);
      if (admission.do === 'refuse') throw refusal(admission.code, row);
      if (row.status !== 'running') throw refusal('agent_not_running', row);
      return admission;
    },
    asked,
  );
  if (begun === null) throw notFound(agentId);
}

function refusalOf({ why, isBusy }: NonNullable<ReadOutcome>, agentId: string): Refusal {
  const message = `The agent was not exported: ${why}`;
  return isBusy
    ? new Refusal('agent_busy', message, { agentId, retryAfterSeconds: busyRetrySeconds })
    : new Refusal(why.includes('room') ? 'insufficient_capacity' : 'agent_unavailable', message, { agentId });
}

const boundsOf = ({ size, machine }: AgentRow) => contentBounds(Math.max(machine?.diskGib ?? 0, sizes[size].diskGib));

/** Reads the whole archive once, so that one which is not whole is found before the reply begins. Returns what is left out. */
async function lookThrough(scratch: ScratchFile, data: CarriedData, row: AgentRow): Promise<Missing[]> {
  const contents = new Contents(data, boundsOf(row));
  const reader = new TarReader(scratch.read());
  const left: Missing[] = [];
  try {
    for (let entry = await reader.next(); entry !== null; entry = await reader.next()) {
      const isLeft = !contents.isLeftInPlace(entry) && contents.troubleOf(portable(entry)) !== null;
      if (isLeft && left.length < maxLeftOut) left.push({ kind: 'file', name: shown(entry.path) });
    }
  } catch (error) {
    if (!(error instanceof ImportProblem)) throw error;
    throw new Refusal('internal_error', `The agent was not exported: of its folders, ${error.message}.`, {
      agentId: row.id,
    });
  }
  return left;
}

function fileOf(scratch: ScratchFile, data: CarriedData, row: AgentRow, manifest: Manifest, passphrase: string | null) {
  const packed = zipped(archiveOf(scratch, data, row, manifest));
  return passphrase === null ? packed : seal(packed, passphrase);
}

async function* archiveOf(
  scratch: ScratchFile,
  data: CarriedData,
  row: AgentRow,
  manifest: Manifest,
): AsyncGenerator<Uint8Array> {
  const now = new Date();
  const text = manifestBytes(manifest, now);
  yield headerBytes(fileEntry(manifestName, text.length, now));
  yield text;
  yield paddingBytes(text.length);
  const contents = new Contents(data, boundsOf(row));
  const reader = new TarReader(scratch.read());
  for (let entry = await reader.next(); entry !== null; entry = await reader.next()) {
    if (contents.isLeftInPlace(entry)) continue;
    const own = portable(entry);
    if (contents.troubleOf(own) === null) yield* copied(reader, own);
  }
  yield endBytes();
}

const fileEntry = (path: string, size: number, at: Date): TarEntry => ({
  path,
  type: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  mtime: Math.floor(at.getTime() / 1000),
  size,
  link: '',
  realSize: null,
});

/** Bytes through gzip. */
export async function* zipped(bytes: Bytes, level = gzipLevel): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level });
  // A failure of the source ends the reading below with the same error.
  pipeline(Readable.from(bytes, { objectMode: false }), gzip).catch(() => undefined);
  yield* gzip;
}

async function* closing(bytes: AsyncIterable<Uint8Array>, scratch: ScratchFile): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } finally {
    await scratch.close();
  }
}
