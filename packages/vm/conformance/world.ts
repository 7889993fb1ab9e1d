/** Things that the tests of one suite share: the driver under test, and their helpers. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizes } from '@lodge/domain';
import { restOf } from '@lodge/ports';
import type { FromSaved, Template, Vm, VmDriver, VmErrorCode, VmObservation, VmRequest } from '@lodge/ports';
import { patience } from './accelerator.ts';
import type { DriverHarness, GuestProbe } from './harness.ts';

export const never = new AbortController().signal;

export class World {
  harness!: DriverHarness;
  driver!: VmDriver;
  /** Set by the first test of the suite. */
  template!: Template;
  exits: { readonly agentId: string; readonly executionId: string }[] = [];
  private executions = 0;

  async open(harness: DriverHarness): Promise<void> {
    this.harness = harness;
    await this.begin();
  }

  async close(): Promise<void> {
    await this.removeAll();
    await this.driver.stop();
    await this.harness.close();
  }

  /** Lets a new driver take over the host. */
  readonly begin = async (): Promise<void> => {
    this.driver = this.harness.driver();
    this.exits = [];
    this.driver.onExit((exit) => this.exits.push(exit));
    await this.driver.start();
  };

  /** A request with a new execution. */
  readonly request = (agentId: string, more: Partial<VmRequest> = {}): VmRequest => {
    this.executions += 1;
    const executionId = `e${this.executions}`;
    return { agentId, executionId, machine: sizes.small, template: this.template, from: 'clone', ...more };
  };

  readonly create = (wanted: VmRequest): Promise<Vm> => this.driver.create(wanted, never);

  readonly state = async (agentId: string): Promise<VmObservation['state'] | null> =>
    (await this.driver.inspect(agentId))?.state ?? null;

  readonly guest = (vm: Vm): GuestProbe => this.harness.guest(vm);

  /** A new VM with a mark in its memory and one on its disk. */
  readonly marked = async (agentId: string): Promise<Vm> => {
    const vm = await this.create(this.request(agentId));
    await this.guest(vm).writeFile('mark', 'on disk');
    await this.guest(vm).remember('mark', 'in memory');
    return vm;
  };

  /** Checks that the VM has both marks. */
  readonly isWhole = async (vm: Vm): Promise<void> => {
    assert.equal(await this.guest(vm).readFile('mark'), 'on disk');
    assert.equal(await this.guest(vm).recall('mark'), 'in memory');
  };

  /**
   * Returns the VM's credential, after checking that it admits its holder, and that neither no credential nor those of
   * others do.
   */
  readonly credentialOf = async (vm: Vm, others: readonly string[]): Promise<string> => {
    const own = await this.driver.guestCredential(vm.agentId, vm.address);
    assert.ok(own !== null && !others.includes(own));
    assert.ok(await this.guest(vm).admits(own));
    for (const other of [null, ...others]) assert.equal(await this.guest(vm).admits(other), false);
    return own;
  };

  readonly removeAll = async (): Promise<void> => {
    for (const { agentId } of await this.driver.list()) await this.driver.remove(agentId, { keepDisk: false });
  };

  readonly eventually = async (what: string, holds: () => Promise<boolean> | boolean): Promise<void> => {
    const deadline = Date.now() + 120_000 * patience;
    while (!(await holds())) {
      assert.ok(Date.now() < deadline, `not within two minutes, or longer on KVM: ${what}`);
      await sleep(5);
    }
  };
}

/** A start of the agent's machine at rest. */
export const fromRest = (agentId: string, memory = true): FromSaved => ({ saved: restOf(agentId), memory });

export function rejectsWith(work: Promise<unknown>, code: VmErrorCode): Promise<void> {
  return assert.rejects(work, { name: 'VmError', code });
}

/** How far the guest's clock is off, however long the question and its answer took. */
export async function clockErrorMs(guest: GuestProbe): Promise<number> {
  const asked = Date.now();
  const told = await guest.clock();
  return Math.max(0, asked - told, told - Date.now());
}

/** The observation that `inspect` and `list` return for a VM. */
export function observed({ agentId, executionId, address }: Vm, state: VmObservation['state']): VmObservation {
  return { agentId, executionId, state, address, backup: null };
}
