/**
 * A data folder as a Lodge leaves it, without a machine: a database with agents, disks over a template, the memory of one,
 * and one whose emulator "runs", which is a process that sleeps. A backup treats those like real ones.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadMasterKey, openSecretBox } from '@lodge/access';
import { llmKeyContext } from '@lodge/ports';
import { migrate, openStore, startEmbeddedPostgres } from '@lodge/store';
import { placePrograms } from '@lodge/testkit/postgres-programs';
import { Client } from 'pg';

const run = promisify(execFile);
const cli = new URL('../../apps/server/src/cli/main.ts', import.meta.url).pathname;
export const agents = { asleep: 'aasleepaaaaa', awake: 'aawakeaaaaaa' } as const;
export const accountId = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
export const llmKey = 'sk-of-the-agent-0123456789';
const templateId = 'bare0123-build1';
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export interface Said {
  readonly code: number;
  readonly text: string;
}

export class RestingLodge {
  readonly root: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Stands for an emulator. */
  readonly emulator: ChildProcess;

  private constructor(root: string, emulator: ChildProcess) {
    this.root = root;
    this.dataDir = join(root, 'data');
    this.env = this.envOf('data');
    this.emulator = emulator;
  }

  static async make(): Promise<RestingLodge> {
    const root = await mkdtemp(join(tmpdir(), 'lodge-rest-'));
    await chmod(root, 0o711);
    const lodge = new RestingLodge(root, spawn('sleep', ['3600'], { stdio: 'ignore' }));
    await lodge.writeFiles();
    await lodge.withDatabase((client) => lodge.writeRows(client));
    return lodge;
  }

  /** The environment of a Lodge in another data folder beside it, which need not exist. */
  envOf(name: string): NodeJS.ProcessEnv {
    const [dataDir, cacheDir] = [join(this.root, name), join(this.root, `${name}-cache`)];
    const instance = `r${randomInt(36 ** 4).toString(36)}`;
    return { ...process.env, LODGE_DATA_DIR: dataDir, LODGE_CACHE_DIR: cacheDir, LODGE_INSTANCE: instance };
  }

  command(env: NodeJS.ProcessEnv, ...args: string[]): ChildProcess {
    return spawn(process.execPath, [cli, ...args], { env, stdio: 'ignore' });
  }

  async run(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Said> {
    return run(process.execPath, [cli, ...args], { env }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        text: error.stdout + error.stderr,
      }),
    );
  }

  async withDatabase<T>(work: (client: Client) => Promise<T>, dataDir = this.dataDir): Promise<T> {
    const folder = join(dataDir, 'postgres');
    await placePrograms(folder);
    const postgres = await startEmbeddedPostgres({
      dataDir: folder,
      user: 'lodge',
      client: 'lodge-control',
      log: quiet,
    });
    const client = new Client({ connectionString: postgres.connectionString });
    try {
      await migrate({ connectionString: postgres.connectionString });
      await client.connect();
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
      await postgres.stop();
    }
  }

  async isFrozen(): Promise<boolean> {
    const text = await readFile(`/proc/${this.emulator.pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2)[0] === 'T';
  }

  async destroy(): Promise<void> {
    this.emulator.kill('SIGKILL');
    await once(this.emulator, 'exit');
    await rm(this.root, { recursive: true, force: true });
  }

  private async writeFiles(): Promise<void> {
    const { dataDir } = this;
    const text = await readFile(`/proc/${this.emulator.pid}/stat`, 'latin1');
    const startTime = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]);
    const template = join(dataDir, 'templates', templateId);
    await mkdir(template, { recursive: true, mode: 0o711 });
    for (const name of ['disk.qcow2', 'root.qcow2']) await writeFile(join(template, name), randomBytes(2_000_000));
    const machine = { vcpus: 1, memoryMib: 512, diskGib: 10 };
    for (const [name, id] of Object.entries(agents)) {
      const folder = join(dataDir, 'vms', id);
      await mkdir(folder, { recursive: true });
      await writeFile(
        join(folder, 'disk.qcow2'),
        Buffer.concat([randomBytes(1_000_000), Buffer.alloc(1_000_000), randomBytes(1_000_000)]),
      );
      const runs = name === 'awake';
      const made = {
        version: 1,
        agentId: id,
        executionId: 'e1',
        from: 'clone',
        base: 'template',
        machine,
        facts: null,
      };
      const now = runs
        ? { phase: 'running', process: { pid: this.emulator.pid, startTime } }
        : { phase: 'disk', process: null };
      const record = { ...made, templateId, slot: null, address: null, ...now };
      await writeFile(join(folder, 'vm.json'), JSON.stringify(record), { mode: 0o600 });
    }
    await chmod(dataDir, 0o711);
  }

  private async writeRows(client: Client): Promise<void> {
    const key = await loadMasterKey(join(this.dataDir, 'master.key'));
    const { host, port, database, user } = client;
    const connectionString = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
    const store = await openStore({ connectionString, log: quiet });
    const box = await openSecretBox(store.secrets, key);
    await store.close();
    await client.query(`insert into accounts (id, name) values ($1, 'somebody')`, [accountId]);
    for (const [name, id] of Object.entries(agents)) {
      await client.query(
        `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
          auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, status, acknowledged, template_id)
         values ($1, $2, $3, 'runtime_a', 'stub/model', 'small', 0, 0, 'auto', true, true, true, '{}', now(), now(), 'stopped', true, $4)`,
        [id, accountId, name, templateId],
      );
      await client.query(`insert into llm_keys (agent_id, provider, sealed, last4) values ($1, 'stub', $2, '6789')`, [
        id,
        box.seal(llmKey, llmKeyContext(id, 'stub')),
      ]);
    }
    await client.query(
      `with one as (insert into skills (id, account_id, name) values ('notes-id', $2, 'notes') returning id),
         version as (
           insert into skill_versions (id, skill_id, version, description, digest, source, programs, variables, findings, files, bytes)
           select 'notes-3', id, 3, 'Writes notes.', 'of-the-files', '{"kind": "upload"}', '{gh}', '{}', '[]',
             '[{"path": "SKILL.md", "bytes": 4, "sha256": "x", "executable": false}]', 4 from one
           returning id, skill_id
         ),
         piece as (insert into skill_pieces select id, 0, 0, 'text'::bytea from version)
       insert into agent_skills (agent_id, name, skill_id, version, enabled, members)
       select $1, 'notes', skill_id, 3, true, '{scout,null}' from version`,
      [agents.asleep, accountId],
    );
    await client.query(
      `insert into channels (agent_id, channel, account_id, enabled, access, account_key, status)
       values ($1, 'telegram', $2, true, '{}', 'telegram/1', 'connected')`,
      [agents.asleep, accountId],
    );
  }
}
