/**
 * Restores one agent of a backup as a new agent of this Lodge, which may be running. Its row comes first, in error; then its
 * disk, by one rename; then it is stopped. A kill in between leaves an agent in error that says so, and that can be deleted.
 */
import { randomInt } from 'node:crypto';
import { chmod, chown, mkdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openSecretBox } from '@lodge/access';
import { lockBackups } from '@lodge/backup';
import type { Place, Repository } from '@lodge/backup';
import { makeAgentId } from '@lodge/domain';
import { carrySkills } from '@lodge/engine';
import { connectionHeaderContext, connectionSecretContext, llmKeyContext } from '@lodge/ports';
import type { Log, SecretBox } from '@lodge/ports';
import {
  accountOf,
  agentIsRestored,
  endEmbeddedPostgres,
  loadDatabase,
  migrate,
  readAgentRows,
  tablesOfOneAgent,
  writeAgentRows,
} from '@lodge/store';
import type { AgentRows } from '@lodge/store';
import { diskName, isDiskFile } from '@lodge/vm/portable';
import type { Config } from '../../config/config.ts';
import { exists } from '../../host/files.ts';
import { CommandError, say } from '../command.ts';
import { holderName } from '../take-down.ts';
import { useStore, withDatabase, withOwnDatabase } from '../with-store.ts';
import { filesOfAgent, filesOfTemplate, tableFile } from './list.ts';
import type { BackedUpAgent, BackupList, ListedFile } from './list.ts';
import { existingMasterKey } from './master-key.ts';
import type { MasterKey } from './master-key.ts';
import { noBackups, openBackups } from './open.ts';
import { moveFile, partFolder, readList, restoredName, rowsIn } from './restic-source.ts';

export interface AgentRestore {
  readonly config: Config;
  readonly log: Log;
  readonly place: Place;
  readonly credentials: Readonly<Record<string, string>>;
  readonly agentId: string;
  readonly backup: string | undefined;
  readonly keyFile: string | undefined;
  /** Id or e-mail; undefined: the backup's account. */
  readonly account: string | undefined;
}

export async function restoreAgent(options: AgentRestore): Promise<void> {
  const { config, place, credentials } = options;
  const key = await existingMasterKey(config, options.keyFile);
  const unlock = await lockBackups(config.dataDir);
  const folder = join(config.dataDir, restoredName);
  try {
    const repository = await openBackups(config, { place, key, credentials, create: false });
    const name = options.backup ?? repository?.backups().at(-1);
    if (!repository || name === undefined) throw noBackups(place, key);
    await clear(folder);
    await mkdir(folder, { mode: 0o711 });
    const list = await readList(repository, name, folder);
    const agent = list.agents.find(({ record }) => record.name === `${options.agentId}/vm.json`);
    if (!agent) throw new CommandError(`The backup ${name} has no agent ${options.agentId}.`);
    const { id, leftOut } = await new Restoring(options, { repository, name, list, folder, key, agent }).run();
    say(
      `Agent ${agent.agentId} of the backup ${name} is the agent ${id} now. It is stopped; a start boots it from its disk.`,
    );
    say('Its channels, hooks, schedules, published ports, snapshots and sign-ins of connections did not come along.');
    if (leftOut.length > 0)
      say(`The account has other skills of these names, so it has none of them: ${leftOut.join(', ')}.`);
  } finally {
    await clear(folder);
    unlock();
  }
}

async function clear(folder: string): Promise<void> {
  await endEmbeddedPostgres(join(folder, 'postgres'));
  await rm(folder, { recursive: true, force: true });
}

interface Found {
  readonly repository: Repository;
  readonly name: string;
  readonly list: BackupList;
  readonly folder: string;
  readonly key: MasterKey;
  readonly agent: BackedUpAgent;
}

interface Restored {
  readonly id: string;
  /** Names of skills that did not come along. */
  readonly leftOut: readonly string[];
}

interface BackedUp {
  readonly connectionString: string;
  readonly rows: AgentRows;
  readonly box: SecretBox;
}

class Restoring {
  private readonly options: AgentRestore;
  private readonly found: Found;

  constructor(options: AgentRestore, found: Found) {
    this.options = options;
    this.found = found;
  }

  async run(): Promise<Restored> {
    const { config, log } = this.options;
    const id = makeAgentId(randomInt);
    await this.assertRoom();
    await this.takeFiles(id);
    const own = await existingMasterKey(config, undefined);
    return this.withBackedUp((before) =>
      withDatabase(config, log, async (connectionString) => {
        const accountId = await this.account(connectionString, before.rows);
        const box = await boxOf(connectionString, own, log);
        const rows = resealed(before.rows, id, before.box, box);
        const unfinished = 'A restore of this agent did not come to its end. Delete it, and restore it again.';
        await writeAgentRows({ connectionString }, rows, { id, accountId, host: holderName(config), unfinished });
        const leftOut = await this.carrySkills(before.connectionString, connectionString, { id, accountId });
        await this.putFiles(id);
        if (await agentIsRestored({ connectionString }, id)) return { id, leftOut };
        throw new CommandError(`The agent ${id} was deleted while it was restored.`);
      }),
    );
  }

  /** The layers of its disk, and its template. */
  private get files(): { readonly disk: readonly ListedFile[]; readonly template: readonly ListedFile[] } {
    const { agent, list } = this.found;
    const disk = filesOfAgent(agent).filter(({ to }) => isDiskFile(basename(to)));
    const template = list.templates.find(({ id }) => id === agent.templateId);
    if (disk.some(({ to }) => basename(to) === diskName) && template) {
      return { disk, template: filesOfTemplate(template) };
    }
    throw new CommandError(`The backup ${this.found.name} has no disk of agent ${agent.agentId}.`);
  }

  private async assertRoom(): Promise<void> {
    const { dataDir, diskFloorMib } = this.options.config;
    const { disk, template } = this.files;
    const neededBytes = [...disk, ...template].reduce((sum, { bytes }) => sum + bytes, diskFloorMib * 2 ** 20);
    const { bavail, bsize } = await statfs(dataDir);
    if (bavail * bsize > neededBytes) return;
    const [needed, free] = [neededBytes, bavail * bsize].map((bytes) => Math.ceil(bytes / 2 ** 20));
    throw new CommandError(`The restore needs ${needed} MiB in ${dataDir}, and ${free} MiB are free.`);
  }

  /** Takes disk and rows to a place beside their final one; the disk's folder is whole, and has the new agent's record. */
  private async takeFiles(id: string): Promise<void> {
    const { repository, name, folder, list, agent } = this.found;
    const { disk } = this.files;
    const tables = tablesOfOneAgent.map((table) => ({ part: list.database.part, from: tableFile(table) }));
    const all = [...disk, ...tables];
    for (const part of new Set(all.map((file) => file.part))) {
      const names = all.filter((file) => file.part === part).map(({ from }) => from);
      await repository.restore(repository.snapshotOf(name, part), partFolder(folder, part), names);
    }
    for (const file of disk) {
      await moveFile(repository, { ...file, to: `vm/${basename(file.to)}` }, { folder, dataDir: join(folder, 'made') });
    }
    const old = JSON.parse(agent.record.text) as Record<string, unknown>;
    const record = {
      ...old,
      agentId: id,
      phase: 'disk',
      slot: null,
      address: null,
      process: null,
      credential: undefined,
    };
    const vm = join(folder, 'made', 'vm');
    await writeFile(join(vm, 'vm.json'), `${JSON.stringify(record)}\n`, { mode: 0o600 });
    for (const { to } of disk) {
      const path = join(vm, basename(to));
      await chown(path, 0, 0);
      // Layers are read by whoever may pass the folder; the top gets its mode with its start.
      await chmod(path, basename(to) === diskName ? 0o600 : 0o444);
    }
  }

  private async putFiles(id: string): Promise<void> {
    const { folder, agent } = this.found;
    const { dataDir } = this.options.config;
    await rename(join(folder, 'made', 'vm'), join(dataDir, 'vms', id));
    // From here on its record keeps the template; a missing one comes from the backup.
    if (!(await exists(join(dataDir, 'templates', agent.templateId)))) await this.putTemplate();
  }

  private async putTemplate(): Promise<void> {
    const { repository, name, folder, agent, list } = this.found;
    const { dataDir } = this.options.config;
    const { part, folder: facts } = list.templates.find((each) => each.id === agent.templateId)!;
    const { template } = this.files;
    const taken = join(folder, 'template');
    const names = template.map(({ from }) => from);
    await repository.restore(repository.snapshotOf(name, part), partFolder(taken, part), names);
    for (const file of template) await moveFile(repository, file, { folder: taken, dataDir: join(folder, 'made') });
    const made = join(folder, 'made', 'templates', agent.templateId);
    await chown(made, facts.uid, facts.gid);
    await chmod(made, facts.mode);
    await mkdir(join(dataDir, 'templates'), { recursive: true, mode: 0o711 });
    await rename(made, join(dataDir, 'templates', agent.templateId));
  }

  /** The rows in a separate database of the backup's release, migrated to this one. It is there until the work has ended. */
  private async withBackedUp<T>(work: (before: BackedUp) => Promise<T>): Promise<T> {
    const { config, log } = this.options;
    const { folder, list, key, agent } = this.found;
    const facts = { ...list.database.facts };
    const tables = facts.tables.filter(({ name }) => tablesOfOneAgent.includes(name));
    return withOwnDatabase({ ...config, dataDir: folder, databaseUrl: null }, log, async (connectionString) => {
      const rowsOf = (table: string): AsyncIterable<string> => rowsIn(folder, list, table);
      await loadDatabase({ connectionString }, { ...facts, tables }, rowsOf);
      await migrate({ connectionString });
      const rows = await readAgentRows({ connectionString }, agent.agentId);
      if (rows === null)
        throw new CommandError(`The backup has a disk of agent ${agent.agentId} and no row: it was deleted.`);
      return work({ connectionString, rows, box: await boxOf(connectionString, key, log) });
    });
  }

  /** Returns the names of skills that do not come along. */
  private carrySkills(
    from: string,
    to: string,
    { id, accountId }: { readonly id: string; readonly accountId: string },
  ): Promise<readonly string[]> {
    const { log } = this.options;
    const carried = { from: this.found.agent.agentId, to: id, accountId };
    return useStore(from, log, (before) =>
      useStore(to, log, (now) => carrySkills(before.database, now.database, carried)),
    );
  }

  private async account(connectionString: string, rows: AgentRows): Promise<string> {
    const wanted = this.options.account ?? String(rows.agents[0]!['account_id']);
    const found = await accountOf({ connectionString }, wanted);
    if (found !== null) return found;
    throw new CommandError(
      'The account that the agent is to belong to is not here: name one by --account ID or E-MAIL.',
    );
  }
}

const boxOf = (connectionString: string, { key }: MasterKey, log: Log): Promise<SecretBox> =>
  useStore(connectionString, log, (store) => openSecretBox(store.secrets, key));

/** Seals the rows' secrets anew: each secret belongs to its place, and so to its agent. */
function resealed(rows: AgentRows, id: string, from: SecretBox, to: SecretBox): AgentRows {
  const again = (
    row: Readonly<Record<string, unknown>>,
    contextOf: (agentId: string) => string,
  ): Readonly<Record<string, unknown>> => {
    const plain = from.open(String(row['sealed']), contextOf(String(row['agent_id'])));
    return { ...row, sealed: to.seal(plain, contextOf(id)) };
  };
  return {
    ...rows,
    llm_keys: rows.llm_keys.map((row) => again(row, (agentId) => llmKeyContext(agentId, String(row['provider'])))),
    connection_headers: rows.connection_headers.map((row) =>
      again(row, (agentId) => connectionHeaderContext(agentId, String(row['connection']), String(row['name']))),
    ),
    connection_secrets: rows.connection_secrets.map((row) =>
      again(row, (agentId) => connectionSecretContext(agentId, String(row['connection']), String(row['name']))),
    ),
  };
}
