/**
 * Keeps a current template for every offered runtime, so that a create is a clone.
 *
 *   missing ──> building ──> early ──> ready      one build at a time in this process: two would only slow each other.
 *                  │  ▲         │  ▲                Beside it one that goes on from an early template, at little weight
 *                  ▼  │         └──┘
 *                failed    either again after a pause that doubles, up to 5 minutes
 *
 * Where nothing serves agents, a runtime's early template is made first (docs/adr/0047-first-agent.md). Agents are made from
 * it at once. Its guest goes on in a VM of its own until it is fully warm; from then on agents are made from that template.
 * Each template is found by its inputs, so a builder that was killed between any two steps goes on with the missing one.
 *
 * A ready template that turns out to be gone or damaged (`lost`) is made again. Several versions lie side by side: agents
 * name the one that their disk lies over, and a timer collects unneeded ones. The current version is looked up again and
 * again, because an operator may install another. The old version stays current until the new one's template is ready.
 *
 * The ports make image and template, named by content hash and safe against builders in other processes. Killing this
 * process leaves at most an unfinished build in a temporary folder, which the ports collect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FairGate, backoffMs } from '@lodge/domain';
import type { RuntimeKind } from '@lodge/domain';
import { builtIn, VmError } from '@lodge/ports';
import type { AgentRuntime, ImageBuilder, Log, OfferedVersions, ReportProgress, RuntimeVersion } from '@lodge/ports';
import type { RuntimeVersions, Template, VmDriver } from '@lodge/ports';
import { BuildBound } from './build-bound.ts';
import { earlyVariant, TemplateMaker } from './maker.ts';
import type { Wanted } from './maker.ts';
import { Progress } from './progress.ts';
import type { TemplateProgress } from './progress.ts';

export type { TemplateProgress } from './progress.ts';

export interface TemplatesDeps {
  readonly driver: VmDriver;
  readonly images: ImageBuilder;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  /** Installed versions of the runtimes; without it there are those that Lodge brings. */
  readonly versions?: RuntimeVersions;
  /** How often the keeper looks which versions are offered. */
  readonly lookEveryMs?: number;
  readonly log: Log;
  /** Bound on the image, on the boot, and on the work in the guest after it, which is multiplied by the guest's pace. */
  readonly buildTimeoutMs: number;
  /** The templates that agents' disks lie over. */
  readonly inUse: () => Promise<ReadonlySet<string>>;
  readonly collectEveryMs: number;
}

/** The templates of one runtime. */
interface Ready {
  readonly offered: OfferedVersions;
  readonly fresh: Template;
  /** Null while it is found or made behind the other. */
  readonly upgrade: Template | null;
}

/** A build that nobody waits for leaves processor time to others, so it may take this many times longer. */
const unhurriedFactor = 6;
/** Most host memory that its VM takes, MiB. */
const unhurriedMib = 2_560;
const roomPauseMs = 60_000;
const defaultLookEveryMs = 10_000;
const pauses = { firstMs: 5_000, maxMs: 5 * 60_000 };

export function createTemplates(deps: TemplatesDeps): Templates {
  return new TemplateKeeper(deps);
}

class TemplateKeeper {
  private readonly deps: TemplatesDeps;
  private readonly ready = new Map<RuntimeKind, Ready>();
  private readonly versions = new Map<string, string>();
  private readonly maker: TemplateMaker;
  /** Early templates, each with the one that has gone on from it; null until that exists. */
  private readonly early = new Map<string, Template | null>();
  /** Runtimes whose templates the keeper finds or makes now. */
  private readonly keeping = new Set<RuntimeKind>();
  /** Runtimes whose early templates are still being warmed up. */
  private readonly warming = new Set<RuntimeKind>();
  private readonly byId = new Map<string, Template>();
  private readonly made: Progress;
  private readonly stopping = new AbortController();
  private work: Promise<void> = Promise.resolve();
  /** Work that no collection waits for. */
  private beside: Promise<unknown> = Promise.resolve();
  /** One build at a time. A runtime that somebody waits for goes first. */
  private readonly builds = new FairGate<RuntimeKind>({ inAll: 1, isUrgent: (kind) => this.made.isAwaited(kind) });
  /** Builds that go on from early templates. */
  private readonly unhurried = new FairGate<RuntimeKind>({ inAll: 1 });
  private timer: NodeJS.Timeout | undefined;
  private looking: NodeJS.Timeout | undefined;

  constructor(deps: TemplatesDeps) {
    this.deps = deps;
    this.maker = new TemplateMaker(deps);
    this.made = new Progress((kind) => deps.runtimes.get(kind)?.name ?? kind);
  }

  /** Begins to make missing templates in the background, and goes on until `stop`. */
  start(): void {
    for (const kind of this.deps.runtimes.keys()) this.begin(kind);
    if (this.deps.versions) this.looking = setInterval(() => this.look(), this.deps.lookEveryMs ?? defaultLookEveryMs);
    this.timer = setInterval(() => {
      this.work = this.work.then(() => this.collect());
    }, this.deps.collectEveryMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    clearInterval(this.looking);
    this.stopping.abort();
    await this.work;
    await this.beside;
  }

  /** The template that new agents are made from; null while there is none. */
  current(kind: RuntimeKind): Template | null {
    return this.ready.get(kind)?.fresh ?? null;
  }

  /** The template that an upgrade brings: the current one, unless new agents stay on an earlier version. */
  newest(kind: RuntimeKind): Template | null {
    return this.ready.get(kind)?.upgrade ?? null;
  }

  /** Whether an upgrade would bring nothing to an agent over that template. */
  isNewest(kind: RuntimeKind, id: string): boolean {
    const newest = this.newest(kind);
    return newest !== null && (newest.id === id || this.early.get(id)?.id === newest.id);
  }

  /** The runtime's version in a template; null where another process has made it current. */
  versionOf(id: string): string | null {
    return this.versions.get(id) ?? null;
  }

  /** Returns a template of any age by its id. */
  async get(id: string): Promise<Template | null> {
    const template = this.byId.get(id) ?? (await this.deps.driver.getTemplate(id));
    if (template) this.byId.set(id, template);
    return template;
  }

  /** Resolves as soon as there is a current template, or the newest. Rejects when `signal` aborts. */
  whenReady(kind: RuntimeKind, signal: AbortSignal, which: 'current' | 'newest' = 'current'): Promise<Template> {
    return this.made.until(kind, () => this[which](kind), signal);
  }

  /** Reports that a clone found this template missing; the current one is made again. */
  lost(kind: RuntimeKind, id: string): void {
    this.byId.delete(id);
    const runtime = this.deps.runtimes.get(kind);
    const ready = this.ready.get(kind);
    if (!runtime || (ready?.fresh.id !== id && ready?.upgrade?.id !== id)) return;
    this.ready.delete(kind);
    this.deps.log.warn({ runtime: runtime.name, template_id: id }, 'template is gone or damaged; it is made again');
    this.made.report(kind, 'building', 'the template is gone or damaged; it is made again', null);
    this.begin(kind);
  }

  progress(kind: RuntimeKind): TemplateProgress {
    return this.made.of(kind);
  }

  onProgress(listener: (progress: TemplateProgress) => void): () => void {
    return this.made.on(listener);
  }

  /** Begins to keep a runtime's templates, once at a time. Each attempt reads the offered versions. */
  private begin(kind: RuntimeKind): void {
    if (this.keeping.has(kind)) return;
    this.keeping.add(kind);
    const kept = this.keep(kind, this.deps.runtimes.get(kind)!).finally(() => {
      this.keeping.delete(kind);
      // The template was lost before this work was over.
      if (!this.ready.has(kind) && !this.stopping.signal.aborted) this.begin(kind);
    });
    this.also(kept);
  }

  private look(): void {
    for (const [kind, runtime] of this.deps.runtimes) this.also(this.lookAt(kind, runtime));
  }

  private async lookAt(kind: RuntimeKind, runtime: AgentRuntime): Promise<void> {
    const ready = this.ready.get(kind);
    if (!ready || this.keeping.has(kind) || this.stopping.signal.aborted) return;
    try {
      if (!isSame(ready.offered, await this.offered(runtime))) this.begin(kind);
    } catch (error) {
      this.deps.log.warn({ err: error, runtime: runtime.name }, 'cannot see which versions are offered');
    }
  }

  private async offered({ name, templateVariant }: AgentRuntime): Promise<OfferedVersions> {
    const { versions } = this.deps;
    return versions ? versions.offered(name, templateVariant) : { fresh: builtIn(name), upgrade: builtIn(name) };
  }

  private async keep(kind: RuntimeKind, runtime: AgentRuntime): Promise<void> {
    const { signal } = this.stopping;
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        const offered = await this.offered(runtime);
        const fresh = await this.bring(kind, runtime, offered.fresh);
        const isOne = offered.upgrade.image === offered.fresh.image;
        const before = this.ready.get(kind);
        // New agents wait only for the template that they need.
        if (!isOne && !before) this.serve(kind, { offered, fresh, upgrade: null });
        const upgrade = isOne ? fresh : await this.bring(kind, runtime, offered.upgrade);
        this.serve(kind, { offered, fresh, upgrade });
        const fields = { new_agents: this.versionOf(fresh.id), upgrade: this.versionOf(upgrade.id) };
        if (before)
          this.deps.log.info({ runtime: runtime.name, ...fields }, 'what is offered of a runtime has changed');
        this.beside = Promise.all([this.beside, this.warmFurther(kind, runtime)]);
        this.also(this.findEarlyOnes(runtime, [fresh, upgrade]));
        return;
      } catch (error) {
        if (signal.aborted) return;
        const pauseMs = backoffMs(pauses, tries);
        this.deps.log.error({ err: error, runtime: runtime.name, retry_in_ms: pauseMs }, 'template not made');
        if (!this.ready.has(kind)) {
          this.made.report(kind, 'failed', error instanceof Error ? error.message : String(error), null);
        }
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private serve(kind: RuntimeKind, ready: Ready): void {
    this.ready.set(kind, ready);
    if (this.isEarly(ready.fresh)) this.made.report(kind, 'early', 'serves agents, and is warmed up further', null);
    else this.made.report(kind, 'ready', 'ready', 1);
  }

  private isEarly({ id }: Template): boolean {
    return this.early.get(id) === null;
  }

  /** Returns a template; an existing one waits for no build of another runtime. */
  private async bring(kind: RuntimeKind, runtime: AgentRuntime, version: RuntimeVersion): Promise<Template> {
    const full = await this.maker.find({ runtime, version, stage: 'full' });
    if (full) return this.known(full, runtime, version);
    const early = await this.maker.find({ runtime, version, stage: 'early' });
    // While agents have a template to be made from, another is made behind it, without hurry.
    const stage = early === null && (!runtime.early || this.ready.has(kind)) ? 'full' : 'early';
    const { signal } = this.stopping;
    const make = () => this.make(kind, { runtime, version, stage });
    const template = early ?? (await this.builds.through(kind, make, { signal }));
    if (stage === 'early') this.early.set(template.id, null);
    return this.known(template, runtime, version);
  }

  /** Finds older early templates that one of the full ones has gone on from; agents may lie over them. */
  private async findEarlyOnes(runtime: AgentRuntime, full: readonly Template[]): Promise<void> {
    const variant = earlyVariant(runtime);
    try {
      for (const id of variant === null ? [] : await this.deps.inUse()) {
        const other = this.early.has(id) ? null : await this.get(id);
        const further = full.find(({ imageId }) => other?.variant === variant && other.imageId === imageId);
        if (further && further.id !== id) this.early.set(id, further);
      }
    } catch (error) {
      this.deps.log.warn({ err: error, runtime: runtime.name }, 'cannot see which agents lie over early templates');
    }
  }

  private known(template: Template, runtime: AgentRuntime, { version }: RuntimeVersion): Template {
    this.byId.set(template.id, template);
    this.versions.set(template.id, version ?? runtime.version);
    return template;
  }

  /** Makes the full template from a runtime's early one and serves it. Ends when the early one is lost. */
  private async warmFurther(kind: RuntimeKind, runtime: AgentRuntime): Promise<void> {
    if (this.warming.has(kind)) return;
    this.warming.add(kind);
    const { signal } = this.stopping;
    for (let tries = 1; !signal.aborted; tries += 1) {
      const from = this.earlyOf(kind);
      if (!from) break;
      try {
        await this.further(kind, runtime, from);
      } catch (error) {
        if (signal.aborted) break;
        const pauseMs = backoffMs(pauses, tries);
        this.deps.log.warn(
          { err: error, runtime: runtime.name, retry_in_ms: pauseMs },
          'template not warmed up further',
        );
        if (error instanceof VmError && error.code === 'template_missing') this.lost(kind, from.template.id);
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
    this.warming.delete(kind);
  }

  private earlyOf(kind: RuntimeKind): { readonly template: Template; readonly version: RuntimeVersion } | null {
    const ready = this.ready.get(kind);
    if (!ready) return null;
    const { offered, fresh, upgrade } = ready;
    if (this.isEarly(fresh)) return { template: fresh, version: offered.fresh };
    return upgrade && this.isEarly(upgrade) ? { template: upgrade, version: offered.upgrade } : null;
  }

  private async further(
    kind: RuntimeKind,
    runtime: AgentRuntime,
    { template: from, version }: { readonly template: Template; readonly version: RuntimeVersion },
  ): Promise<void> {
    const { log } = this.deps;
    const fields = { runtime: runtime.name, template_id: from.id };
    log.info(fields, 'agents are made from an early template, which is warmed up further beside them');
    await this.awaitMemory(runtime);
    const { signal } = this.stopping;
    const make = () => this.makeUnhurried({ runtime, version, stage: { from } });
    const full = this.known(await this.unhurried.through(kind, make, { signal }), runtime, version);
    this.early.set(from.id, full);
    log.info({ ...fields, full_id: full.id }, 'the template is fully warm: new agents are made from it');
    const ready = this.ready.get(kind);
    const warmest = (template: Template): Template => this.early.get(template.id) ?? template;
    if (ready)
      this.serve(kind, { ...ready, fresh: warmest(ready.fresh), upgrade: ready.upgrade && warmest(ready.upgrade) });
  }

  private also(work: Promise<void>): void {
    this.work = Promise.all([this.work, work]).then(() => undefined);
  }

  /** Removes templates that neither an agent nor the next create needs, once the needs of creates are known. */
  private async collect(): Promise<void> {
    const { driver, runtimes, inUse, log } = this.deps;
    if (this.stopping.signal.aborted) return;
    try {
      const used = await inUse();
      const current = [...this.ready.values()].flatMap(({ fresh, upgrade }) => (upgrade ? [fresh.id, upgrade.id] : []));
      if (current.length < 2 * runtimes.size || !this.unhurried.isIdle) return;
      const keep = new Set([...used, ...current]);
      const removed = await driver.collectTemplates(keep);
      for (const id of removed) this.byId.delete(id);
      if (removed.length > 0) log.info({ template_ids: removed }, 'templates that no agent needs are removed');
    } catch (error) {
      log.warn({ err: error }, 'unused templates not collected; it will be repeated');
    }
  }

  private make(kind: RuntimeKind, wanted: Wanted): Promise<Template> {
    return this.makeWithin(this.deps.buildTimeoutMs, wanted, (step, fraction) => {
      if (!this.ready.has(kind)) this.made.report(kind, 'building', step, fraction ?? null);
    });
  }

  private makeUnhurried(wanted: Wanted): Promise<Template> {
    return this.makeWithin(this.deps.buildTimeoutMs * unhurriedFactor, wanted, () => undefined);
  }

  private async makeWithin(ms: number, wanted: Wanted, progress: ReportProgress): Promise<Template> {
    const bound = new BuildBound(ms, this.stopping.signal);
    try {
      return await this.maker.make(wanted, progress, bound);
    } catch (error) {
      throw bound.lateness ?? error;
    } finally {
      bound.end();
    }
  }

  /** Agents need the host's memory more. */
  private async awaitMemory({ name }: AgentRuntime): Promise<void> {
    const { driver, log } = this.deps;
    const { signal } = this.stopping;
    for (let said = false; (await driver.hostMemory()).availableMib < unhurriedMib; said = true) {
      const fields = { runtime: name, needed_mib: unhurriedMib };
      if (!said) log.info(fields, 'the template is warmed up further once the host has memory for it');
      await sleep(roomPauseMs, undefined, { signal });
    }
  }
}

const isSame = (one: OfferedVersions, other: OfferedVersions): boolean =>
  one.fresh.image === other.fresh.image && one.upgrade.image === other.upgrade.image;

export type Templates = Pick<TemplateKeeper, keyof TemplateKeeper>;
