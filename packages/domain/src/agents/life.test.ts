/**
 * Random lives of an agent through admission and next step, with a control plane that may be killed between any two effects.
 * Nothing forbidden is ever reached, and every life comes to rest. A failure names its seed; `LODGE_SEED=<seed>` replays
 * only that life, event by event. `LODGE_LIVES` sets their number (10,000).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLifecycle } from './agent.ts';
import { idleVerb } from './idleness.ts';
import { admit } from './operation.ts';
import type { OperationCause, Verb } from './operation.ts';
import { nextStep } from './next-step.ts';
import { lifeOf, randomFrom } from '../testing/sequences.ts';
import type { Event } from '../testing/sequences.ts';
import { World } from '../testing/world.ts';

const only = process.env['LODGE_SEED'];
const lives = Number(process.env['LODGE_LIVES'] ?? 10_000);
const base = only === undefined ? Date.now() % 1_000_000_000 : Number(only);
const maxPasses = 30;

/** One agent's life: events come at any moment, and passes advance effect by effect. */
class Life {
  readonly world = new World();
  /** The knowledge that the guest acknowledged, which every disk must have. */
  private known = 0;
  private pass: Generator<void, void, void> | null = null;
  private effectsLeft = Infinity;
  private readonly random: (below: number) => number;

  constructor(seed: number) {
    this.random = randomFrom(seed ^ 0x5eed);
  }

  take(event: Event): void {
    const { world } = this;
    switch (event.do) {
      case 'verb':
        this.begin(event.verb, 'request');
        break;
      case 'use':
        this.use(event.wake);
        break;
      case 'wait':
        world.now = new Date(world.now.getTime() + event.seconds * 1000);
        this.idle();
        break;
      case 'crash-vm':
        if (world.process) world.process.state = 'dead';
        break;
      case 'freeze-vm':
        if (world.process?.state === 'running') world.process.state = 'paused';
        break;
      case 'crash-control':
        this.effectsLeft = event.afterEffects;
        break;
      case 'fail':
        if (event.effect === 'health') this.sicken();
        else world.failing.add(event.effect);
        break;
      case 'quiet':
        this.rest();
        return;
    }
    for (let effects = this.random(12); effects > 0; effects -= 1) this.goOn();
  }

  private begin(kind: Verb, cause: OperationCause): void {
    const { row, now, newest } = this.world;
    if (admit(kind, { ...row, isNewest: row.template === newest }).do !== 'begin') return;
    assert.equal(row.operation, null, 'a second operation began');
    this.world.row = { ...row, operation: { kind, cause, startedAt: now }, generation: row.generation + 1 };
  }

  private sicken(): void {
    const { status, operation } = this.world.row;
    if (status === 'running' && operation === null) this.begin('restart', 'health');
  }

  private use(wake: boolean): void {
    const { row, process } = this.world;
    if (row.status === 'paused') this.begin('resume', 'request');
    if (row.status === 'stopped' && wake) this.begin('start', 'request');
    if (row.status !== 'running' || row.operation !== null || process?.state !== 'running') return;
    // A turn, and the flush at its end.
    process.memory += 1;
    this.world.disk = process.memory;
    this.known = process.memory;
  }

  private idle(): void {
    const { row, now } = this.world;
    const facts = {
      ...row,
      lifecycle: defaultLifecycle,
      isKeptAwake: false,
      createdAt: new Date(0),
      lastActiveAt: null,
    };
    const verb = idleVerb(facts, now);
    if (verb) this.begin(verb, 'idle');
  }

  /** Runs one effect of the current or the next pass, or the pending kill. */
  private goOn(): void {
    if (this.effectsLeft === 0) {
      this.pass = null;
      // After its restart it may be of a newer release.
      this.world.newest += 1;
      this.effectsLeft = Infinity;
    }
    this.pass ??= this.world.pass();
    if (this.pass.next().done) this.pass = null;
    this.effectsLeft -= 1;
    this.check();
  }

  private rest(): void {
    for (let passes = 0; passes < maxPasses; passes += 1) {
      do this.goOn();
      while (this.pass !== null);
      const { facts, vm, now } = this.world;
      if (nextStep(facts, vm, now).do === 'nothing') {
        this.checkAtRest();
        return;
      }
    }
    assert.fail(`it does not come to rest: ${JSON.stringify(this.world.row)}`);
  }

  /** Checks the rules that hold at every moment. */
  private check(): void {
    const { row, kept, violations } = this.world;
    assert.deepEqual(violations, []);
    if (row.acknowledged) assert.ok(kept !== null, 'the disk of an acknowledged agent is lost');
    if (row.acknowledged) assert.ok(kept! >= this.known, 'a disk lacks what was acknowledged');
    if (row.status === 'error') assert.ok(row.reason !== null, 'error without a reason');
  }

  private checkAtRest(): void {
    const { row, process, vm } = this.world;
    assert.equal(row.operation, null, 'an operation never ends');
    assert.notEqual(row.status, 'provisioning', 'provisioning never ends');
    if (row.status === 'running' || row.status === 'paused') {
      const own = { state: row.status, executionId: row.executionId, backup: null };
      assert.deepEqual(vm, own, `${row.status} without its VM`);
      assert.ok(process!.memory >= this.known, 'the agent has forgotten what was acknowledged');
    } else {
      assert.equal(process, null, `memory is held in ${row.status}`);
      assert.equal(vm?.backup ?? null, null, `something is the backup in ${row.status}`);
    }
  }
}

test(`${only === undefined ? lives : 1} random lives from seed ${base} never reach what the contract forbids`, (t) => {
  for (let seed = base; seed < base + (only === undefined ? lives : 1); seed += 1) {
    const life = new Life(seed);
    for (const [index, event] of lifeOf(seed, 40).entries()) {
      try {
        life.take(event);
      } catch (error) {
        throw new Error(`seed ${seed}, event ${index} ${JSON.stringify(event)}: replay with LODGE_SEED=${seed}`, {
          cause: error,
        });
      }
      if (only !== undefined)
        t.diagnostic(`${JSON.stringify(event)} -> ${JSON.stringify([life.world.row, life.world.vm])}`);
    }
  }
});
