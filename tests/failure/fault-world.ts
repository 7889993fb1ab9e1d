/**
 * Four agents that are started, stopped, paused, resumed, restarted and renamed at random while everything about them is
 * killed. The world's knowledge of each is the service's acknowledgements; `check` compares API, host and guests with it.
 * The service is the product as a process (`Service`), with real machines, so that each of them can be killed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '@lodge/domain/testing';
import type { GuestClient } from '@lodge/guest';
import { guestClientOf } from '@lodge/testkit/guest';
import type { Service } from '@lodge/testkit/service';
import { emulators, holdings, killEmulator } from './holdings.ts';
import type { Holdings } from './holdings.ts';

export const victims = ['control plane', 'emulator', 'database', 'guest daemon'] as const;
export type Victim = (typeof victims)[number];
const verbs = ['start', 'stop', 'pause', 'resume', 'restart'] as const;
/** Restarts boot for seconds: one in so many of the others. */
const weights: Readonly<Record<(typeof verbs)[number], number>> = {
  start: 4,
  stop: 4,
  pause: 4,
  resume: 4,
  restart: 1,
};

const settleMs = 10 * 60_000;
const marker = '/workspace/marker';

interface KnownAgent {
  readonly id: string;
  /** The last acknowledged name, and those of renames whose reply was lost: any of them is right. */
  readonly names: Set<string>;
  /** Names whose request has not been answered or cut off yet. */
  readonly underWay: Set<string>;
  /** The text that was written into the guest and synced. */
  readonly marker: string;
}

export interface FaultFigures {
  readonly seed: number;
  readonly kills: Record<Victim, number>;
  /** Replies by verb and status; 0: the connection was cut. */
  readonly replies: Record<string, number>;
  readonly recovered: number;
  readonly longestSettleMs: number;
}

export class FaultWorld {
  /** The one whose host has the VMs, and others over the same database. */
  readonly services: readonly Service[];
  readonly figures: FaultFigures;
  readonly agents: KnownAgent[] = [];
  private readonly random: (below: number) => number;
  private renames = 0;

  constructor(services: readonly Service[], seed: number) {
    this.services = services;
    this.random = randomFrom(seed);
    const kills = { 'control plane': 0, emulator: 0, database: 0, 'guest daemon': 0 };
    this.figures = { seed, kills, replies: {}, recovered: 0, longestSettleMs: 0 };
  }

  /** The kills of all victims together; one that was not running does not count. */
  get killed(): number {
    return Object.values(this.figures.kills).reduce((sum, count) => sum + count, 0);
  }

  get home(): Service {
    return this.services[0]!;
  }

  /** Agents that sleep only on request, unless `lifecycle` differs. */
  async create(
    count: number,
    lifecycle: object = { idle_timeout_seconds: 0, stop_after_seconds: 3600 },
  ): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const name = `Agent ${index}`;
      const reply = await this.home.call('POST', '/agents', { name, size: 'small', lifecycle });
      if (reply.status !== 201) throw new Error(`create answered ${reply.status}: ${JSON.stringify(reply.body)}`);
      const agent = {
        id: reply.body.id as string,
        names: new Set([name]),
        underWay: new Set<string>(),
        marker: `kept by ${reply.body.id}`,
      };
      this.agents.push(agent);
      const guest = await this.guest(agent.id);
      await guest.writeFile(marker, agent.marker, { mode: 0o644, owner: 'root' });
      await guest.sync(false);
    }
  }

  /** Some requests at once, to any of the services; resolves when all have been answered or cut off. */
  traffic(): Promise<unknown> {
    return Promise.all(Array.from({ length: 1 + this.random(4) }, () => this.request()));
  }

  private async request(): Promise<void> {
    const agent = this.agents[this.random(this.agents.length)]!;
    const service = this.services[this.random(this.services.length)]!;
    if (this.random(5) === 0) return this.rename(agent, service);
    const verb = this.verb();
    const reply = await service.call('POST', `/agents/${agent.id}/${verb}`).catch(() => null);
    this.count(verb, reply?.status ?? 0);
  }

  private verb(): (typeof verbs)[number] {
    const all = verbs.flatMap((verb) => Array.from({ length: weights[verb] }, () => verb));
    return all[this.random(all.length)]!;
  }

  /** An acknowledged rename makes wrong every name whose own request was over before it began. */
  private async rename(agent: KnownAgent, service: Service): Promise<void> {
    const name = `Agent renamed ${(this.renames += 1)}`;
    const overtaken = [...agent.names].filter((earlier) => !agent.underWay.has(earlier));
    agent.names.add(name);
    agent.underWay.add(name);
    const reply = await service.call('PATCH', `/agents/${agent.id}`, { name }).catch(() => null);
    agent.underWay.delete(name);
    this.count('rename', reply?.status ?? 0);
    if (reply?.status === 200) for (const earlier of overtaken) agent.names.delete(earlier);
  }

  private count(what: string, status: number): void {
    const key = `${what} ${status === 0 ? 'cut' : status}`;
    this.figures.replies[key] = (this.figures.replies[key] ?? 0) + 1;
  }

  async kill(victim: Victim): Promise<void> {
    switch (victim) {
      case 'control plane': {
        const service = this.services[this.random(this.services.length)]!;
        await service.end('SIGKILL');
        await service.up();
        break;
      }
      case 'emulator': {
        const pids = [...(await emulators(this.home.dataDir)).values()];
        if (pids.length === 0) return;
        killEmulator(pids[this.random(pids.length)]!);
        break;
      }
      case 'database':
        process.kill(await databasePid(this.home.dataDir), 'SIGKILL');
        break;
      case 'guest daemon': {
        const running = await this.list().catch(() => []);
        const agent = running.find(({ status }) => status === 'running');
        if (!agent) return;
        const guest = await this.guest(agent.id);
        // The daemon is cut off in the midst of its answer: that is the point.
        const argv = ['/bin/sh', '-c', 'kill -9 $(pidof node)'];
        await guest.exec({ argv, user: 'root', timeoutMs: 2_000 }, { timeoutMs: 3_000 }).catch(() => undefined);
        break;
      }
    }
    this.figures.kills[victim] += 1;
  }

  chooseVictim(): Victim {
    const roll = this.random(10);
    if (roll < 4) return 'control plane';
    if (roll < 6) return 'emulator';
    return roll < 8 ? 'database' : 'guest daemon';
  }

  pause(maxMs: number): Promise<void> {
    return sleep(this.random(maxMs));
  }

  /** Waits until everything has come to rest and is right; throws what is still wrong at the deadline. */
  async settle(): Promise<void> {
    const started = Date.now();
    for (;;) {
      const wrong = await this.disagreement().catch((error: unknown) => `not checked: ${String(error)}`);
      if (wrong === '') break;
      if (Date.now() - started > settleMs) throw new Error(`seed ${this.figures.seed}: ${wrong}`);
      await sleep(300);
    }
    const tookMs = Date.now() - started;
    Object.assign(this.figures, { longestSettleMs: Math.max(this.figures.longestSettleMs, tookMs) });
  }

  /** Brings every agent to `running`, out of `error` too, and reads what was written into it. */
  async assertNothingLost(): Promise<void> {
    await this.settle();
    for (const agent of this.agents) {
      const { status } = (await this.list()).find(({ id }) => id === agent.id)!;
      if (status === 'error') Object.assign(this.figures, { recovered: this.figures.recovered + 1 });
      const reply = await this.home.call('POST', `/agents/${agent.id}/start`);
      if (reply.status !== 200 && reply.status !== 202) {
        throw new Error(`start of ${agent.id} (${status}) answered ${reply.status}: ${JSON.stringify(reply.body)}`);
      }
      const wait = await this.home.call('GET', `/agents/${agent.id}?wait_for=running&timeout=240`);
      if (wait.body.status !== 'running') throw new Error(`${agent.id} does not run: ${JSON.stringify(wait.body)}`);
      const found = Buffer.from(await (await this.guest(agent.id)).readFile(marker)).toString();
      if (found !== agent.marker) throw new Error(`${agent.id} has lost its file: it reads ${found}`);
    }
    await this.settle();
  }

  private async list(): Promise<ListedAgent[]> {
    return (await this.home.call('GET', '/agents?limit=100')).body.data as ListedAgent[];
  }

  private async disagreement(): Promise<string> {
    const listed = await this.list();
    for (const { id, names } of this.agents) {
      const agent = listed.find((candidate) => candidate.id === id);
      if (!agent) return `acknowledged ${id} is gone`;
      if (!names.has(agent.name)) return `${id} is called ${agent.name}, acknowledged was ${[...names].join(' or ')}`;
      if (agent.status === 'provisioning' || agent.transition) return `${id} is on its way: ${JSON.stringify(agent)}`;
      const reason = agent.status_reason?.code;
      if (agent.status === 'error' && reason !== 'vm_crashed') return `${id} is in error: ${JSON.stringify(agent)}`;
    }
    if (listed.length !== this.agents.length) return `${listed.length} agents, not ${this.agents.length}`;
    return this.hostDisagreement(listed);
  }

  private async hostDisagreement(listed: readonly ListedAgent[]): Promise<string> {
    const alive = listed.filter(({ status }) => status === 'running' || status === 'paused');
    const wanted = alive.map(({ id }) => id).sort();
    const held = await this.holdings();
    if (String(held.emulators.sort()) !== String(wanted)) {
      return `emulators ${String(held.emulators)}, agents with memory ${String(wanted)}`;
    }
    if (held.namespaces !== alive.length) return `${held.namespaces} namespaces for ${alive.length} VMs`;
    if (held.links !== alive.length) return `${held.links} links for ${alive.length} VMs`;
    const ids = new Set(listed.map(({ id }) => id));
    for (const folder of held.folders) if (!ids.has(folder)) return `folder ${folder} belongs to nobody`;
    for (const { id, status } of alive) {
      if (status === 'running') await (await this.guest(id)).health();
    }
    return '';
  }

  /** The holdings of all services' hosts together. */
  private async holdings(): Promise<Holdings> {
    const all = await Promise.all(this.services.map(({ dataDir, instance }) => holdings(dataDir, instance)));
    return {
      emulators: all.flatMap(({ emulators: ids }) => ids),
      namespaces: all.reduce((sum, { namespaces }) => sum + namespaces, 0),
      links: all.reduce((sum, { links }) => sum + links, 0),
      folders: all.flatMap(({ folders }) => folders),
    };
  }

  /** The agent's guest, on whichever service's host it is. */
  async guest(id: string): Promise<GuestClient> {
    for (const { dataDir } of this.services) {
      const guest = await guestClientOf(dataDir, id).catch(() => null);
      if (guest !== null) return guest;
    }
    throw new Error(`no service has a VM of ${id}`);
  }
}

interface ListedAgent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly status_reason: { readonly code: string } | null;
  readonly transition: unknown;
}

/** Pid of the database's server; waits for one that is being started again. */
export async function databasePid(dataDir: string): Promise<number> {
  const cluster = join(dataDir, 'postgres', 'cluster');
  for (;;) {
    const pid = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
    // A file that a killed server left names a pid that may be anybody's by now.
    if (pid > 0 && (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(cluster)) return pid;
    await sleep(50);
  }
}

/** Kills until `kills` were made; settles after each `settleEvery`. */
export async function faultRun(world: FaultWorld, kills: number, settleEvery: number): Promise<void> {
  for (let told = 0; world.killed < kills;) {
    const requests = world.traffic();
    await world.pause(1_500);
    await world.kill(world.chooseVictim());
    await requests;
    const { killed } = world;
    if (killed === told || killed % settleEvery !== 0) continue;
    told = killed;
    await world.settle();
  }
  await world.assertNothingLost();
}
