/**
 * An import is a create. Its file is read as it comes, checked entry by entry and written anew in plain form to the host's disk;
 * nothing is made before all of it is there. A kill leaves this:
 *   - before the agent's row: a file that no row names, which the keeper removes;
 *   - after it: the row names the file, and the agent's first machine is made from it, however often that begins;
 *   - once the agent runs: a file that no row names.
 */
import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { FairGate, Refusal, makeAgentId, maxSchedules, sizes } from '@lodge/domain';
import type { RuntimeKind, SizeName } from '@lodge/domain';
import type { AgentMember, CarriedData, ChangeNote } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { databaseTime } from '@lodge/store/database';
import type { Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { insertSchedules } from '@lodge/store/schedules';
import type { CreateAgentInput } from '../../agents/agents.ts';
import { planNew } from '../../schedules/plans.ts';
import type { NewSchedule } from '../../schedules/plans.ts';
import { ByteSource, atMost } from './bytes.ts';
import type { Bytes } from './bytes.ts';
import { Contents, contentBounds, copied, shown } from './contents.ts';
import type { PortableDeps } from './deps.ts';
import { zipped } from './export.ts';
import { checkRuntime, manifestName, maxManifestBytes, readManifest, refusalOf } from './manifest.ts';
import type { Manifest, Missing } from './manifest.ts';
import { ImportProblem } from './problem.ts';
import { sealedMark, unseal } from './seal.ts';
import { TarReader, endBytes } from './tar.ts';

/** The settings of an import, as their contract was checked. */
export interface ImportedSettings {
  readonly agent: CreateAgentInput & { readonly runtimeKind: RuntimeKind; readonly size: SizeName };
  readonly members: readonly Pick<AgentMember, 'name' | 'model' | 'instructions'>[];
  readonly schedules: readonly NewSchedule[];
  /** Parts of the file that nothing is made of. */
  readonly missing: readonly Missing[];
}

export interface ReceiveOptions {
  readonly passphrase: string | null;
  /** Checks the parts of the manifest that have a contract; throws a `Refusal`. */
  readonly check: (manifest: Manifest) => ImportedSettings;
  readonly signal: AbortSignal;
}

/** An import whose file is on the disk. */
export interface Received {
  readonly file: string;
  readonly settings: ImportedSettings;
  readonly missing: readonly Missing[];
}

/** A file is read by one processor, and each holds room on the disk. */
const gateBounds = { perName: 1, inAll: 2 };
const storedLevel = 1;
/** An archive that is written anew may be packed less well. */
const maxGrowth = 2;
const gzipMark = Buffer.from([0x1f, 0x8b]);

export class Receiving {
  private readonly deps: PortableDeps;
  private readonly gate = new FairGate(gateBounds);

  constructor(deps: PortableDeps) {
    this.deps = deps;
  }

  /**
   * Reads the file, checks it and keeps it. Refuses with `invalid_request`, `request_too_large` or `insufficient_capacity`; then
   * nothing of it is left.
   */
  receive(accountId: string, body: Bytes, options: ReceiveOptions): Promise<Received> {
    return this.gate.through(accountId, () => this.read(body, options), { signal: options.signal });
  }

  /** Refuses a body that says itself that it is too long. */
  checkLength(bytes: number): void {
    const { maxImportBytes: most } = this.deps.parts;
    if (bytes > most) throw tooLarge(most)();
  }

  private async read(body: Bytes, options: ReceiveOptions): Promise<Received> {
    const { disk, parts } = this.deps;
    const giveRoomBack = await disk.holdRoom(parts.maxImportBytes / 2 ** 20);
    if (giveRoomBack === null) throw new Refusal('insufficient_capacity', 'The host has no room for an import now.');
    try {
      return await this.keep(body, options);
    } catch (error) {
      throw error instanceof ImportProblem ? refusalOf(error) : error;
    } finally {
      giveRoomBack();
    }
  }

  private async keep(body: Bytes, { passphrase, check, signal }: ReceiveOptions): Promise<Received> {
    const { runtimes, versions, parts } = this.deps;
    const { maxImportBytes: most, files } = parts;
    const packed = opened(new ByteSource(atMost(untilAborted(body, signal), most, tooLarge(most))), passphrase);
    const reader = new TarReader(unzipped(packed));
    const manifest = readManifest(await firstFile(reader));
    checkRuntime(manifest, versions());
    const settings = check(manifest);
    const { runtimeKind, size } = settings.agent;
    if (runtimeKind !== manifest.runtime.kind)
      throw new ImportProblem('its agent.runtime_kind must be its runtime.kind');
    const { data } = runtimes.get(runtimeKind)!;
    const file = makeAgentId(randomInt);
    try {
      const plain = zipped(checked(reader, data, sizes[size].diskGib), storedLevel);
      await files.keep(file, atMost(plain, maxGrowth * most, tooLarge(most)));
    } catch (error) {
      await files.drop(file);
      throw error;
    }
    return { file, settings, missing: [...manifest.missing, ...settings.missing] };
  }

  /** Makes the agent of a received import. It is in `provisioning`. */
  async create(
    accountId: string,
    { file, settings, missing }: Received,
    { id, note }: { readonly id: string; readonly note?: ChangeNote },
  ): Promise<AgentRow> {
    const { agents, holder } = this.deps;
    const { agent, members, schedules } = settings;
    const createdAt = new Date();
    const input = {
      ...agent,
      host: holder,
      nextImport: file,
      members: members.map((member) => ({ ...member, createdAt })),
    };
    const place = { accountId, agentId: id };
    const imported = { type: 'agent.imported', data: { name: agent.name, missing: missing.length } } as const;
    const after = async (trx: Transaction): Promise<void> => {
      await addSchedules(trx, place, schedules);
      await writeNote(trx, place, imported, note && { by: note.by });
    };
    return agents.create(accountId, input, { id, after, ...(note && { note }) });
  }
}

/** They are disabled: whoever imports an agent says when it begins to work by itself. */
async function addSchedules(
  trx: Transaction,
  place: { readonly accountId: string; readonly agentId: string },
  schedules: readonly NewSchedule[],
): Promise<void> {
  if (schedules.length > maxSchedules) {
    throw new Refusal('quota_exceeded', `An agent may have ${maxSchedules} schedules.`);
  }
  if (schedules.length === 0) return;
  const now = await databaseTime(trx);
  const rows = schedules.map((schedule, index) => {
    const planned = planOf(schedule, now, index);
    return { ...planned, ...place, id: makeAgentId(randomInt) };
  });
  await insertSchedules(trx, rows);
}

function planOf(schedule: NewSchedule, now: Date, index: number) {
  try {
    return planNew({ ...schedule, enabled: false }, now);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, `schedules[${index}].${error.message}`);
  }
}

const tooLarge = (most: number) => (): Refusal =>
  new Refusal('request_too_large', `An import may have at most ${Math.floor(most / 2 ** 20)} MiB.`);

async function* untilAborted(bytes: Bytes, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    yield chunk;
  }
}

/** The tar.gz in the file, whatever its form. */
async function* opened(source: ByteSource, passphrase: string | null): AsyncGenerator<Uint8Array> {
  const mark = await source.upTo(sealedMark.length);
  if (mark.equals(sealedMark)) {
    if (passphrase === null) throw new ImportProblem('it is sealed, and X-Passphrase is missing');
    yield* unseal(source, passphrase);
    return;
  }
  if (!mark.subarray(0, 2).equals(gzipMark)) throw new ImportProblem('it is no export of an agent');
  // Somebody else may have put it in the place of a sealed one.
  if (passphrase !== null) throw new ImportProblem('X-Passphrase is given, and it is not sealed');
  yield mark;
  yield* source.toEnd();
}

async function* unzipped(bytes: Bytes): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let cause: unknown = null;
  pipeline(Readable.from(bytes, { objectMode: false }), gunzip).catch((error: unknown) => {
    cause = error;
  });
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    const own = cause ?? error;
    if (own instanceof Error && String((own as { readonly code?: unknown }).code).startsWith('Z_')) {
      throw new ImportProblem('it is cut short, or was changed after it was made', { cause: own });
    }
    throw own;
  }
}

async function firstFile(reader: TarReader): Promise<Buffer> {
  const entry = await reader.next();
  if (entry?.path !== manifestName || entry.type !== 'file' || entry.realSize !== null) {
    throw new ImportProblem('it is no export of an agent');
  }
  if (entry.size > maxManifestBytes) throw new ImportProblem(`its ${manifestName} is too long`);
  const parts: Buffer[] = [];
  for await (const part of reader.content()) parts.push(part);
  return Buffer.concat(parts);
}

/** The archive anew, of entries that an agent may have alone. */
async function* checked(reader: TarReader, data: CarriedData, diskGib: number): AsyncGenerator<Uint8Array> {
  const contents = new Contents(data, contentBounds(diskGib));
  const lacking = new Set(data.folders.filter((folder) => folder !== '/').map((folder) => folder.slice(1)));
  for (let entry = await reader.next(); entry !== null; entry = await reader.next()) {
    if (contents.isLeftInPlace(entry)) continue;
    const trouble = contents.troubleOf(entry);
    if (trouble !== null) throw new ImportProblem(`of its entry ${JSON.stringify(shown(entry.path))}, ${trouble}`);
    if (entry.type === 'folder') lacking.delete(entry.path);
    yield* copied(reader, entry);
  }
  for (const folder of lacking) throw new ImportProblem(`it lacks the folder /${folder}`);
  yield endBytes();
}
