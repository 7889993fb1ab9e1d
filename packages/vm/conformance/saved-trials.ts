/**
 * An agent, saved machines, and what each of them must know: the mark that was on the agent's disk and the one that was in its
 * memory. A trial is a call that may be cut short or find no room, with the ends that it may have.
 */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sizes } from '@lodge/domain';
import { restOf } from '@lodge/ports';
import type { FromSaved, Template, Vm, VmDriver, VmObservation, VmRequest } from '@lodge/ports';
import { chainOf, isLayer, shortenAt } from '../src/qemu/saved/layers.ts';
import { fileNames, readManifest } from '../src/qemu/saved/machine/manifest.ts';
import { formOf } from '@lodge/testkit/forms';
import { driverOf, holdingsOf, probeGuest } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import type { SavedCall } from './saved-calls.ts';
import { fromRest } from './world.ts';

const never = new AbortController().signal;
export const agentId = 'k';
export const forkId = 'f';

export const kinds = [
  'save',
  'save a paused one',
  'save the disk',
  'rest',
  'start',
  'restore',
  'fork',
  'fork one that is shared',
  'share',
  'copy',
  'drop',
  'pack',
  'collect',
  'shorten',
] as const;
export type Kind = (typeof kinds)[number];

/** Whether saved machines without memory are booted to see whether they are whole. */
const boots = formOf({ short: false, long: true });

interface Marks {
  readonly disk: string;
  /** Null: its memory was not kept. */
  readonly memory: string | null;
}

export interface Trial {
  readonly call: SavedCall;
  /** The saved machine that it makes. */
  readonly makes?: { readonly id: string; readonly marks: Marks };
  /** Saved machines that it may free. */
  readonly frees?: readonly string[];
  /** Whether it joins layers, which QEMU goes on with. The next save clears away those that are left. */
  readonly joins?: true;
  /** The start that it makes, of the agent or of its fork, and what that one knows. */
  readonly starts?: { readonly request: VmRequest; readonly marks: Marks };
}

export class SavedTrials {
  readonly settings: QemuHostSettings;
  readonly template: Template;
  driver: VmDriver;
  readonly saved = new Map<string, Marks>();
  private present: { readonly vm: Vm; readonly marks: Marks } | null = null;
  private readonly draw: (below: number) => number;
  private count = 0;

  constructor(settings: QemuHostSettings, template: Template, draw: (below: number) => number) {
    this.settings = settings;
    this.template = template;
    this.draw = draw;
    this.driver = driverOf(settings);
  }

  /** Lets a new driver take over the host. */
  async begin(): Promise<void> {
    this.driver = driverOf(this.settings);
    await this.driver.start();
  }

  /** The agent with new marks, made if there is none, and at least two saved machines with memory. */
  async ready(): Promise<void> {
    if (this.present === null) {
      const vm = await this.driver.create(this.request(agentId, 'clone'), never);
      this.present = { vm, marks: { disk: '', memory: null } };
    }
    await this.mark();
    while ([...this.saved.values()].filter(({ memory }) => memory !== null).length < 2) {
      const { call, makes } = this.savingOf(true);
      await this.driver.save(agentId, this.vm.executionId, call.request, never);
      this.saved.set(makes.id, makes.marks);
      await this.mark();
    }
    while (this.saved.size > 6) await this.free([...this.saved.keys()][0]!);
  }

  /** Prepares a trial. The agent of a start is at rest then. */
  async trial(kind: Kind): Promise<Trial> {
    const { executionId } = this.vm;
    const withMemory = [...this.saved].filter(([, { memory }]) => memory !== null).map(([id]) => id);
    const chosen = withMemory[this.draw(withMemory.length)]!;
    switch (kind) {
      case 'save':
        return this.savingOf(true);
      case 'save a paused one':
        await this.driver.pause(agentId, executionId);
        return this.savingOf(true);
      case 'save the disk':
        return this.savingOf(false);
      case 'rest':
        return { call: { do: 'rest', agentId, executionId, request: { facts: {} } } };
      case 'start':
        await this.driver.rest(agentId, executionId, { facts: {} }, never);
        return this.startOf('start', agentId, fromRest(agentId), this.marks);
      case 'restore':
      case 'fork':
        return this.startOf(
          'create',
          kind === 'fork' ? forkId : agentId,
          { saved: chosen, memory: true },
          this.of(chosen),
        );
      case 'fork one that is shared':
        await this.driver.shareSaved(chosen, never);
        return this.startOf('create', forkId, { saved: chosen, memory: true }, this.of(chosen));
      case 'share':
      case 'pack':
        return { call: { do: kind, id: await this.fresh() } };
      case 'copy': {
        const to = this.newId();
        return { call: { do: 'copy', id: chosen, to }, makes: { id: to, marks: this.of(chosen) } };
      }
      case 'drop':
        return { call: { do: 'drop', id: chosen }, frees: [chosen] };
      case 'collect': {
        const keep = [...this.saved.keys()].slice(-1);
        const frees = [...this.saved.keys()].filter((id) => !keep.includes(id));
        return { call: { do: 'collect', keep }, frees };
      }
      case 'shorten':
        await this.deepen();
        return { ...this.savingOf(false), joins: true };
    }
  }

  /** Notes the ends of a trial that was cut short or failed: no saved machine may be too many, or missing. */
  async settleSaved({ makes, frees = [] }: Trial): Promise<void> {
    const names = await readdir(join(this.settings.dataDir, 'saved'));
    assert.equal(names.includes(restOf(agentId)), (await this.state()) === 'suspended');
    const left = names.filter((id) => id !== restOf(agentId));
    if (makes && left.includes(makes.id)) this.saved.set(makes.id, makes.marks);
    for (const id of frees) if (!left.includes(id)) this.saved.delete(id);
    assert.deepEqual(left.sort(), [...this.saved.keys()].sort());
    for (const id of left) await this.hasItsFiles(id);
  }

  private async hasItsFiles(id: string): Promise<void> {
    const folder = join(this.settings.dataDir, 'saved', id);
    const named = fileNames((await readManifest(folder))!);
    assert.deepEqual((await readdir(folder)).sort(), [...named, 'manifest'].sort(), `the files of ${id}`);
  }

  async state(): Promise<VmObservation['state'] | null> {
    return (await this.driver.inspect(agentId))?.state ?? null;
  }

  /**
   * Brings the agent back to work after a trial and checks what it knows. It may be booted only if its QEMU was killed, and is
   * taken away then, so that the next one begins with a memory.
   */
  async answers({ call, starts, joins }: Trial, wasKilled: boolean): Promise<void> {
    const found = await this.driver.inspect(agentId);
    const start = starts?.request.agentId === agentId ? starts : undefined;
    const isNew = start !== undefined && found?.executionId === start.request.executionId;
    const marks = isNew ? start.marks : this.marks;
    switch (found?.state) {
      case 'running':
      case 'paused':
        if (isNew) this.present = { vm: await this.driver.create(start.request, never), marks };
        else await this.driver.resume(agentId, this.vm.executionId);
        break;
      case 'suspended':
        assert.ok(call.do === 'rest' || call.do === 'start');
        this.present = { vm: await this.driver.create(this.request(agentId, fromRest(agentId)), never), marks };
        break;
      case 'dead':
        assert.ok(wasKilled, 'only a killed QEMU is dead');
        this.present = {
          vm: await this.driver.create(this.request(agentId, 'boot'), never),
          marks: { ...marks, memory: null },
        };
        break;
      case 'partial':
      case undefined:
        // The present one goes first where another takes its place.
        assert.ok(start !== undefined && call.do === 'create', found?.state);
        this.present = { vm: await this.driver.create(start.request, never), marks: start.marks };
        break;
      case 'unresponsive':
      case 'disk-only':
        assert.fail(found.state);
    }
    await this.knows(this.vm, this.marks);
    if (joins) await this.saveInPassing();
    await this.hasNoStrays();
    if (this.marks.memory === null) await this.takeAway();
  }

  /** Ends the fork of a trial, which has the right marks if it was whole. */
  async endFork({ starts }: Trial): Promise<void> {
    const state = (await this.driver.inspect(forkId))?.state ?? null;
    if (state === null) return;
    assert.ok(starts?.request.agentId === forkId);
    if (state === 'running') await this.knows(await this.driver.create(starts.request, never), starts.marks);
    await this.driver.remove(forkId, { keepDisk: false });
  }

  /** A saved machine is whole, and a fork of it knows what it must. */
  async isWhole(id: string): Promise<void> {
    const marks = this.of(id);
    assert.equal(await this.driver.checkSaved(id, never), null, id);
    if (marks.memory === null && !boots) return;
    const request = this.request(forkId, { saved: id, memory: marks.memory !== null });
    await this.knows(await this.driver.create(request, never), marks);
    await this.driver.remove(forkId, { keepDisk: false });
  }

  async free(id: string): Promise<void> {
    await this.driver.dropSaved(id);
    this.saved.delete(id);
  }

  /** Frees everything. */
  async reset(): Promise<void> {
    for (const each of await this.driver.list()) await this.driver.remove(each.agentId, { keepDisk: false });
    for (const id of this.saved.keys()) await this.free(id);
    this.present = null;
  }

  private async takeAway(): Promise<void> {
    await this.driver.remove(agentId, { keepDisk: false });
    this.present = null;
    assert.deepEqual(await this.holdings(), []);
  }

  /** The holdings of the host, without the numbers by which it has them. */
  async holdings(): Promise<string[]> {
    const folders = (await readdir(join(this.settings.dataDir, 'vms'))).filter((name) => name !== 'FILLER');
    const held = await holdingsOf(this.settings);
    const emulators = held.filter((line) => !line.startsWith('process') || line.includes('qemu-system'));
    return [...emulators.map((line) => line.replace(/ \d+.*/, '')), ...folders.map((name) => `folder ${name}`)].sort();
  }

  /** Its folder has the layers of its disk and no others, and no drafts. */
  async hasNoStrays(): Promise<void> {
    const folder = join(this.settings.dataDir, 'vms', agentId);
    const names = await readdir(folder);
    const inode = async (path: string): Promise<number> => (await stat(path)).ino;
    const layers = new Set(await Promise.all(names.filter(isLayer).map((name) => inode(join(folder, name)))));
    const chain = (await chainOf(join(folder, 'disk.qcow2')))!.layers;
    assert.ok(chain.length <= shortenAt + 1, `${chain.length} layers`);
    const named = new Set(await Promise.all(chain.map(inode)));
    assert.deepEqual(layers.difference(named), new Set(), `${names.join(' ')} for ${chain.join(' ')}`);
    assert.deepEqual(
      names.filter((name) => name.endsWith('.new') || name.endsWith('.next')),
      [],
    );
  }

  get vm(): Vm {
    return this.present!.vm;
  }

  private get marks(): Marks {
    return this.present!.marks;
  }

  private of(id: string): Marks {
    return this.saved.get(id)!;
  }

  private async mark(): Promise<void> {
    const text = `m${(this.count += 1)}`;
    const guest = probeGuest(this.settings, this.vm);
    await guest.writeFile('mark', text);
    await guest.remember('mark', text);
    this.present = { vm: this.vm, marks: { disk: text, memory: text } };
  }

  private async knows(vm: Vm, marks: Marks): Promise<void> {
    const guest = probeGuest(this.settings, vm);
    assert.deepEqual({ disk: await guest.readFile('mark'), memory: await guest.recall('mark') }, marks);
  }

  /** A chain that the next save shortens. */
  private async deepen(): Promise<void> {
    const disk = join(this.settings.dataDir, 'vms', agentId, 'disk.qcow2');
    while ((await chainOf(disk))!.layers.length < shortenAt) {
      await probeGuest(this.settings, this.vm).shell('head -c 4M /dev/urandom > /srv/bulk && sync');
      await this.saveInPassing();
    }
  }

  private async saveInPassing(): Promise<void> {
    const { call, makes } = this.savingOf(false);
    await this.driver.save(agentId, this.vm.executionId, call.request, never);
    await this.driver.dropSaved(makes.id);
  }

  /** A new saved machine, whose memory has its first form. */
  private async fresh(): Promise<string> {
    const { call, makes } = this.savingOf(true);
    await this.driver.save(agentId, this.vm.executionId, call.request, never);
    this.saved.set(makes.id, makes.marks);
    return makes.id;
  }

  private savingOf(memory: boolean) {
    const id = this.newId();
    const { executionId } = this.vm;
    const request = { id, memory, facts: {}, listed: '/srv' };
    const marks = { ...this.marks, ...(!memory && { memory: null }) };
    return { call: { do: 'save', agentId, executionId, request }, makes: { id, marks } } as const;
  }

  private startOf(how: 'start' | 'create', of: string, from: FromSaved, marks: Marks): Trial {
    const request = this.request(of, from);
    return { call: { do: how, request }, starts: { request, marks } };
  }

  private request(of: string, from: VmRequest['from']): VmRequest {
    const executionId = `e${(this.count += 1)}`;
    return { agentId: of, executionId, machine: sizes.small, template: this.template, from };
  }

  private newId(): string {
    return `s${(this.count += 1)}`;
  }
}
