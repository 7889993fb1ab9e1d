/**
 * The random lives of the domain's property test, run by the real engine on a real database and the fake host, with a
 * control plane that is killed at any moment. A failure names its seed. `LODGE_SEED=<seed>` replays that life alone, with
 * the same events; how they meet the engine's work differs. `LODGE_LIVES` sets the number of lives.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lifeOf, randomFrom } from '@lodge/domain/testing';
import type { Event } from '@lodge/domain/testing';
import type { AgentRow } from '@lodge/store/agents';
import { FakeHost } from '@lodge/vm/fake';
import type { FakeBehaviour } from '@lodge/vm/fake';
import { Client } from 'pg';
import { input, never, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';

const only = process.env['LODGE_SEED'];
const lives = only === undefined ? Number(process.env['LODGE_LIVES'] ?? 40) : 1;
const base = only === undefined ? Date.now() % 1_000_000_000 : Number(only);
const together = 4;
const failingSteps = { create: 'daemon', pause: 'pause', resume: 'resume', suspend: 'save' } as const;

class Life {
  private readonly world: World;
  private readonly client: Client;
  private readonly host = new FakeHost();
  private plane!: Plane;
  private id = '';
  private known = 0;
  private release = 0;
  private readonly failing = new Set<string>();
  private readonly random: (below: number) => number;

  constructor(world: World, client: Client, seed: number) {
    this.world = world;
    this.client = client;
    this.random = randomFrom(seed ^ 0x11fe);
    const behaviour: FakeBehaviour = async (step) => {
      await sleep(this.random(4));
      if (this.failing.delete(step)) throw new Error(`told to fail at ${step}`);
    };
    this.host.behaviour = behaviour;
  }

  async begin(): Promise<void> {
    await this.start();
    const lifecycle = { ...input.lifecycle, idleTimeoutSeconds: 45, stopAfterSeconds: 1_800 };
    this.id = (await this.plane.agents.create(this.world.accountId, { ...input, lifecycle })).id;
  }

  async take(event: Event): Promise<void> {
    switch (event.do) {
      case 'verb':
        await this.plane.agents.act(this.world.accountId, this.id, event.verb).catch(expectRefusal);
        break;
      case 'use':
        await this.use(event.wake);
        break;
      case 'wait':
        await this.pass(event.seconds);
        break;
      case 'crash-vm':
        this.host.kill(this.id);
        break;
      case 'freeze-vm':
        this.freeze();
        break;
      case 'crash-control':
        await sleep(event.afterEffects * 2);
        this.plane.kill();
        await this.start();
        break;
      case 'fail':
        this.fail(event.effect);
        break;
      case 'quiet':
        return this.rest();
    }
    await sleep(this.random(25));
  }

  async end(): Promise<void> {
    await this.plane.agents.delete(this.world.accountId, this.id, never);
    assert.deepEqual(
      [this.host.vms.size, this.host.restOf(this.id)],
      [0, null],
      'something is left of a deleted agent',
    );
    this.plane.kill();
  }

  private async start(): Promise<void> {
    // A restarted control plane has a newer release.
    this.release += 1;
    this.plane = await startPlane(this.world, this.host, { healthEveryMs: 30, release: `${this.release}` });
  }

  private fail(effect: Extract<Event, { do: 'fail' }>['effect']): void {
    const { troubles } = this.plane;
    if (effect === 'ready') troubles.failsToStart = true;
    else if (effect === 'quiesce') troubles.busy = true;
    else if (effect === 'health') troubles.sick = true;
    else if (effect !== 'remove') this.failing.add(failingSteps[effect]);
  }

  private freeze(): void {
    const vm = this.host.vms.get(this.id);
    if (vm?.alive && vm.phase === 'running') vm.paused = true;
  }

  private async use(wake: boolean): Promise<void> {
    const options = { wake, timeoutMs: 2_000, signal: never };
    const live = await this.plane.agents.use(this.world.accountId, this.id, options).catch(expectRefusal);
    if (!live) return;
    const vm = this.host.guestAt(live.row.vmAddress!);
    // A VM that died just now is no longer at its address; its turn fails, and nothing is acknowledged.
    if (vm?.agentId === this.id) {
      this.known += 1;
      vm.guest.memory.set('told', String(this.known));
      vm.guest.files.set('told', String(this.known));
    }
    live.release();
  }

  /** Moves all times in the row back by so many seconds. */
  private async pass(seconds: number): Promise<void> {
    const earlier = (column: string) => `${column} = ${column} - $2 * interval '1 second'`;
    const columns = ['last_active_at', 'started_at', 'paused_at', 'created_at'].map(earlier).join(', ');
    const crashes = `crashes = array(select at - $2 * interval '1 second' from unnest(crashes) at)`;
    await this.client.query(`update agents set ${columns}, ${crashes} where id = $1`, [this.id, seconds]);
    await sleep(80);
  }

  private async rest(): Promise<void> {
    this.plane.troubles.sick = false;
    let seen: AgentRow | null = null;
    await until(`it comes to rest`, async () => {
      seen = await this.world.store.agents.find(this.id);
      return seen !== null && seen.operation === null && seen.status !== 'provisioning' && this.isSo(seen);
    }).catch((error: unknown) => {
      const vm = this.host.vms.get(this.id);
      throw new Error(`${String(error)}: ${JSON.stringify(seen)} with ${JSON.stringify(vm)}`);
    });
  }

  /** Whether host and row agree, and no acknowledged data is missing. */
  private isSo(row: AgentRow): boolean {
    const vm = this.host.vms.get(this.id);
    if (row.status === 'error') assert.ok(row.statusReason, 'error without a reason');
    const files = vm?.guest.files ?? this.host.restOf(this.id)?.files;
    if (row.acknowledged) assert.ok(files, 'the disk of an acknowledged agent is lost');
    if (this.known > 0) assert.ok(Number(files!.get('told')) >= this.known, 'a disk lacks what was acknowledged');
    if (row.status !== 'running' && row.status !== 'paused') return !vm?.alive;
    const is = vm?.alive === true && vm.executionId === row.executionId && vm.paused === (row.status === 'paused');
    if (is && vm.address === row.vmAddress && this.known > 0) {
      assert.equal(Number(vm.guest.memory.get('told')), this.known, 'the agent has forgotten what was acknowledged');
    }
    return is && vm.address === row.vmAddress;
  }
}

/** Accepts the engine's refusals as part of a life and rethrows every other error. */
function expectRefusal(error: unknown): null {
  if (error instanceof Error && error.name === 'Refusal') return null;
  throw error;
}

async function live(life: Life, seed: number): Promise<void> {
  await life.begin();
  for (const [index, event] of lifeOf(seed, 20).entries()) {
    if (only !== undefined) console.log(JSON.stringify(event));
    await life.take(event).catch((error: unknown) => {
      const what = `seed ${seed}, event ${index} ${JSON.stringify(event)}: replay with LODGE_SEED=${seed}`;
      throw new Error(what, { cause: error });
    });
  }
  await life.end();
}

test(`${lives} random lives from seed ${base}, lived by the engine, never reach what the contract forbids`, async () => {
  let next = base;
  const worker = async (world: World): Promise<void> => {
    const client = new Client(world.database);
    await client.connect();
    try {
      while (next < base + lives) {
        next += 1;
        await live(new Life(world, client, next - 1), next - 1);
      }
    } finally {
      await client.end();
    }
  };
  // Each life has a database, because any host may take an agent that has no host yet.
  const worlds: World[] = [];
  for (let count = Math.min(together, lives); count > 0; count -= 1) worlds.push(await World.open());
  const outcomes = await Promise.allSettled(worlds.map(worker));
  for (const world of worlds) await world.close();
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
});
