/**
 * One backup of everything, beside a Lodge that runs or not. The database comes first, as of one moment; then each machine.
 * What an agent did in between is on its disk and not in the database: as after a crash, it may be done again, never lost.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupMissingError, storeFile, storeText } from '@lodge/backup';
import type { ChunkList, Repository, StoredFile } from '@lodge/backup';
import type { Log } from '@lodge/ports';
import { dumpDatabase } from '@lodge/store';
import type { DatabaseFacts } from '@lodge/store';
import { agentFolders, portableTemplate, withAgentFiles } from '@lodge/vm/portable';
import { settings } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { version } from '../../version.ts';
import { CommandError } from '../command.ts';
import { chunksOf, filesOf, readList } from './list.ts';
import type { BackedUpAgent, BackedUpTemplate, BackupList } from './list.ts';

/** Where running machines' disks are copied to: on the same file system, so that a copy by reference is possible. */
const stagingName = 'backup-copies';
const notKept = new Set(['LODGE_MASTER_KEY', 'LODGE_MASTER_KEY_COMMAND', 'LODGE_MASTER_KEY_FILE', 'DATABASE_URL']);

export interface MakeOptions {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly repository: Repository;
  readonly databaseUrl: string;
  readonly keep: number | null;
  readonly log: Log;
  readonly tell: (line: string) => void;
}

export interface Made {
  readonly name: string;
  readonly list: BackupList;
  readonly gone: readonly string[];
}

/** The caller has the repository's lock. */
export async function makeBackup(options: MakeOptions): Promise<Made> {
  const { config, env, repository, keep } = options;
  const lists = await earlierLists(options);
  await repository.trust(lists.map(chunksOf));
  const before = new Map<string, StoredFile>();
  for (const list of lists) for (const { name, stored } of filesOf(list)) before.set(name, stored);
  const at = new Date();
  const database = await storeDatabase(repository, options.databaseUrl);
  const agents = await storeAgents(options, before);
  const templates = await storeTemplates(options, new Set(agents.map(({ templateId }) => templateId)), before);
  const list: BackupList = {
    version: 1,
    at: at.toISOString(),
    release: version,
    instance: config.instance,
    database,
    agents,
    templates,
    settings: settingsOf(env),
  };
  const name = await repository.commit(list, at);
  const gone = keep === null ? [] : await repository.forget(keep);
  const left = await earlierLists(options);
  await repository.sweep(left.map(chunksOf));
  return { name, list, gone };
}

/** Rejects with `CommandError` when one is damaged: which chunks it needs is not known then, so none may go. */
async function earlierLists({ repository, log }: MakeOptions): Promise<BackupList[]> {
  const lists: BackupList[] = [];
  for (const name of await repository.backups()) {
    try {
      lists.push(await readList(repository, name));
    } catch (error) {
      // Removed, and shown still.
      if (error instanceof BackupMissingError) continue;
      throw new CommandError(`${(error as Error).message} Move it away to make further backups here.`, {
        cause: error,
      });
    }
  }
  log.debug({ count: lists.length }, 'earlier backups read');
  return lists;
}

async function storeDatabase(
  repository: Repository,
  connectionString: string,
): Promise<{ readonly facts: DatabaseFacts; readonly tables: Record<string, ChunkList> }> {
  const tables: Record<string, ChunkList> = {};
  const facts = await dumpDatabase({ connectionString }, async (table, rows) => {
    tables[table] = await storeText(repository, rows);
  });
  return { facts, tables };
}

async function storeAgents(options: MakeOptions, before: ReadonlyMap<string, StoredFile>): Promise<BackedUpAgent[]> {
  const { config, repository, log, tell } = options;
  const { dataDir } = config;
  const staging = join(dataDir, stagingName);
  await rm(staging, { recursive: true, force: true });
  const agents: BackedUpAgent[] = [];
  try {
    for (const folder of await agentFolders(dataDir)) {
      const agent = await withAgentFiles({ dataDir, staging }, folder, async (found) => {
        const files: Record<string, StoredFile> = {};
        for (const { name, path } of found.files) {
          files[name] = await storeFile(repository, path, before.get(`vms/${name}`));
        }
        const { agentId, templateId, record, frozenMs, unsynced } = found;
        if (unsynced !== null) log.warn({ agent_id: agentId, why: unsynced }, 'the guest did not write out its cache');
        return { agentId, templateId, ran: frozenMs !== null, files, record, frozenMs };
      });
      if (agent === null) continue;
      const { frozenMs, ...kept } = agent;
      agents.push(kept);
      tell(`  agent ${folder}: ${frozenMs === null ? 'as it lies' : `ran, stood still for ${frozenMs} ms`}`);
    }
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return agents;
}

async function storeTemplates(
  { config, repository }: MakeOptions,
  ids: ReadonlySet<string>,
  before: ReadonlyMap<string, StoredFile>,
): Promise<BackedUpTemplate[]> {
  const templates: BackedUpTemplate[] = [];
  for (const id of ids) {
    const found = await portableTemplate(config.dataDir, id);
    if (found === null) {
      throw new CommandError(
        `The template ${id}, which agents' disks lie over, is not in ${config.dataDir}: no backup was made. A start of this release takes it from the cache.`,
      );
    }
    const files: Record<string, StoredFile> = {};
    for (const { name, path } of found.files) {
      files[name] = await storeFile(repository, path, before.get(`templates/${id}/${name}`));
    }
    templates.push({ id, folder: found.folder, files });
  }
  return templates;
}

function settingsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const { name } of Object.values(settings)) {
    const value = env[name];
    if (value && !notKept.has(name)) kept[name] = value;
  }
  return kept;
}
