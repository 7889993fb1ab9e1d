/**
 * Keeps a current template for every runtime that is offered, so that a create is a clone.
 *
 *   missing ──> building ──> ready            one build at a time in this process: two would only slow each other
 *                  │  ▲
 *                  ▼  │ after a pause that doubles, up to 5 minutes
 *                failed
 *
 * A ready one that turns out to be gone or damaged (`lost`) is made again. Several versions lie side by side: agents name
 * the one their disk lies over, and what nobody needs is collected by a timer.
 *
 * Which version of a runtime is current is looked up again and again, for an operator may install another while this process
 * runs. The one that was current stays so until the template of the other is ready.
 *
 * Image and template are made by their ports, named by content hash and safe against builders in other processes; what is
 * kept here is only which one is current and how far the making is. Killing the process leaves at most an unfinished build
 * in a temporary folder, which the ports collect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuntimeKind } from '@lodge/domain';
import { builtIn } from '@lodge/ports';
import type { AgentRuntime, GuestAddress, ImageBuilder, Log, OfferedVersions, RuntimeVersion } from '@lodge/ports';
import type { RuntimeVersions, Template, VmDriver } from '@lodge/ports';

export interface TemplateProgress {
  readonly runtime: string;
  readonly state: 'building' | 'ready' | 'failed';
  /** What happens now, or why it failed, in words for the operator. */
  readonly step: string;
  /** 0..1 where known. */
  readonly fraction: number | null;
  readonly since: Date;
}

export interface Templates {
  /** Begins to make what is missing, in the background, and goes on until `stop`. */
  start(): void;
  stop(): Promise<void>;
  /** What new agents are made from, or null while there is none. */
  current(kind: RuntimeKind): Template | null;
  /** What an upgrade brings; the current one, unless new agents are held on an earlier version. */
  newest(kind: RuntimeKind): Template | null;
  /** The runtime's version in one of them; null where another process has made it current. */
  versionOf(id: string): string | null;
  /** A template of any age by its id. */
  get(id: string): Promise<Template | null>;
  /** Resolves with the current template as soon as there is one, or with the newest; rejects when `signal` aborts. */
  whenReady(kind: RuntimeKind, signal: AbortSignal, which?: 'current' | 'newest'): Promise<Template>;
  /** A clone found that template missing: when it is the current one, it is made again. */
  lost(kind: RuntimeKind, id: string): void;
  progress(kind: RuntimeKind): TemplateProgress;
  onProgress(listener: (progress: TemplateProgress) => void): () => void;
}

export interface TemplatesDeps {
  readonly driver: VmDriver;
  readonly images: ImageBuilder;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  /** Installed versions of them; without it there are those that Lodge brings. */
  readonly versions?: RuntimeVersions;
  /** How often it is looked which versions are offered. */
  readonly lookEveryMs?: number;
  readonly log: Log;
  /** Bound on one build of image and template together. */
  readonly buildTimeoutMs: number;
  /** Templates that agents' disks lie over. */
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

const defaultLookEveryMs = 10_000;
const firstPauseMs = 5_000;
const longestPauseMs = 5 * 60_000;

export function createTemplates(deps: TemplatesDeps): Templates {
  return new TemplateKeeper(deps);
}

class TemplateKeeper implements Templates {
  private readonly deps: TemplatesDeps;
  private readonly ready = new Map<RuntimeKind, Ready>();
  private readonly versions = new Map<string, string>();
  /** Runtimes whose templates are being found or made. */
  private readonly keeping = new Set<RuntimeKind>();
  private readonly byId = new Map<string, Template>();
  private readonly states = new Map<RuntimeKind, TemplateProgress>();
  private readonly listeners = new Set<(progress: TemplateProgress) => void>();
  private readonly stopping = new AbortController();
  private work: Promise<void> = Promise.resolve();
  /** The build in hand, and those behind it. */
  private building: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private looking: NodeJS.Timeout | undefined;

  constructor(deps: TemplatesDeps) {
    this.deps = deps;
  }

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
  }

  current(kind: RuntimeKind): Template | null {
    return this.ready.get(kind)?.fresh ?? null;
  }

  newest(kind: RuntimeKind): Template | null {
    return this.ready.get(kind)?.upgrade ?? null;
  }

  versionOf(id: string): string | null {
    return this.versions.get(id) ?? null;
  }

  async get(id: string): Promise<Template | null> {
    const template = this.byId.get(id) ?? (await this.deps.driver.getTemplate(id));
    if (template) this.byId.set(id, template);
    return template;
  }

  whenReady(kind: RuntimeKind, signal: AbortSignal, which: 'current' | 'newest' = 'current'): Promise<Template> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const template = this[which](kind);
        if (template === null && !signal.aborted) return;
        this.listeners.delete(check);
        signal.removeEventListener('abort', check);
        if (template) resolve(template);
        else reject(new Error('gave up waiting for the template', { cause: signal.reason }));
      };
      this.listeners.add(check);
      signal.addEventListener('abort', check);
      check();
    });
  }

  lost(kind: RuntimeKind, id: string): void {
    this.byId.delete(id);
    const runtime = this.deps.runtimes.get(kind);
    const ready = this.ready.get(kind);
    if (!runtime || (ready?.fresh.id !== id && ready?.upgrade?.id !== id)) return;
    this.ready.delete(kind);
    this.deps.log.warn({ runtime: runtime.name, template_id: id }, 'template is gone or damaged; it is made again');
    this.report(kind, 'building', 'the template is gone or damaged; it is made again', null);
    this.begin(kind);
  }

  progress(kind: RuntimeKind): TemplateProgress {
    const runtime = this.deps.runtimes.get(kind)?.name ?? kind;
    return (
      this.states.get(kind) ?? { runtime, state: 'building', step: 'not begun yet', fraction: null, since: new Date() }
    );
  }

  onProgress(listener: (progress: TemplateProgress) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** One keeps the templates of a runtime at a time: it reads what is offered with each of its attempts. */
  private begin(kind: RuntimeKind): void {
    if (this.keeping.has(kind)) return;
    this.keeping.add(kind);
    this.also(this.keep(kind, this.deps.runtimes.get(kind)!).finally(() => this.keeping.delete(kind)));
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
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const offered = await this.offered(runtime);
        const fresh = await this.bring(kind, runtime, offered.fresh);
        const isOne = offered.upgrade.image === offered.fresh.image;
        const before = this.ready.get(kind);
        // New agents wait for what they need alone.
        if (!isOne && !before) this.serve(kind, { offered, fresh, upgrade: null });
        const upgrade = isOne ? fresh : await this.bring(kind, runtime, offered.upgrade);
        this.serve(kind, { offered, fresh, upgrade });
        const told = { new_agents: this.versionOf(fresh.id), upgrade: this.versionOf(upgrade.id) };
        if (before) this.deps.log.info({ runtime: runtime.name, ...told }, 'what is offered of a runtime has changed');
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.deps.log.error({ err: error, runtime: runtime.name, retry_in_ms: pauseMs }, 'template not made');
        if (!this.ready.has(kind)) {
          this.report(kind, 'failed', error instanceof Error ? error.message : String(error), null);
        }
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private serve(kind: RuntimeKind, ready: Ready): void {
    this.ready.set(kind, ready);
    this.report(kind, 'ready', 'ready', 1);
  }

  /** One that is there waits for no build of another runtime's. */
  private async bring(kind: RuntimeKind, runtime: AgentRuntime, version: RuntimeVersion): Promise<Template> {
    const found = await this.find(runtime, version);
    const template = found ?? (await this.inTurn(() => this.make(kind, runtime, version)));
    this.byId.set(template.id, template);
    this.versions.set(template.id, version.version ?? runtime.version);
    return template;
  }

  private also(work: Promise<void>): void {
    this.work = Promise.all([this.work, work]).then(() => undefined);
  }

  /** A runtime whose template cannot be made does not hold up another's between its tries. */
  private inTurn<T>(build: () => Promise<T>): Promise<T> {
    const built = this.building.then(() => {
      this.stopping.signal.throwIfAborted();
      return build();
    });
    this.building = built.catch(() => undefined);
    return built;
  }

  /** Removes what neither an agent nor the next create needs; not before it is known what creates need. */
  private async collect(): Promise<void> {
    const { driver, runtimes, inUse, log } = this.deps;
    const current = [...this.ready.values()].flatMap(({ fresh, upgrade }) => (upgrade ? [fresh.id, upgrade.id] : []));
    if (this.stopping.signal.aborted || current.length < 2 * runtimes.size) return;
    try {
      const keep = new Set([...(await inUse()), ...current]);
      const removed = await driver.collectTemplates(keep);
      for (const id of removed) this.byId.delete(id);
      if (removed.length > 0) log.info({ template_ids: removed }, 'templates that no agent needs are removed');
    } catch (error) {
      log.warn({ err: error }, 'unused templates not collected; it will be repeated');
    }
  }

  /** Its image need not be there any more. */
  private async find({ templateVariant: variant }: AgentRuntime, { image }: RuntimeVersion): Promise<Template | null> {
    const { driver, images } = this.deps;
    return driver.findTemplate({ image: { id: await images.idOf(image) }, variant });
  }

  private async make(kind: RuntimeKind, runtime: AgentRuntime, version: RuntimeVersion): Promise<Template> {
    const { driver, images, buildTimeoutMs } = this.deps;
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(buildTimeoutMs)]);
    // While there is one for agents to be made from, another is made behind it.
    const progress = (step: string, fraction?: number): void => {
      if (!this.ready.has(kind)) this.report(kind, 'building', step, fraction ?? null);
    };
    progress('looking for the image');
    const image = await images.ensure(version.image, progress, signal);
    const request = { image, variant: runtime.templateVariant };
    const found = await driver.findTemplate(request);
    if (found) return found;
    const llm = await runtime.startWarmupLlm(driver.brokerHost);
    try {
      const prepare = (guest: GuestAddress, buildSignal: AbortSignal) =>
        runtime.prepareTemplate(guest, progress, buildSignal);
      return await driver.buildTemplate({ ...request, brokerPort: llm.port, prepare, progress }, signal);
    } finally {
      await llm.close();
    }
  }

  private report(kind: RuntimeKind, state: TemplateProgress['state'], step: string, fraction: number | null): void {
    const before = this.progress(kind);
    const since = before.state === state ? before.since : new Date();
    const progress = { runtime: before.runtime, state, step, fraction, since };
    this.states.set(kind, progress);
    for (const listener of this.listeners) listener(progress);
  }
}

const isSame = (one: OfferedVersions, other: OfferedVersions): boolean =>
  one.fresh.image === other.fresh.image && one.upgrade.image === other.upgrade.image;
