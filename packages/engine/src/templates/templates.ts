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
 * Image and template are made by their ports, named by content hash and safe against builders in other processes; what is
 * kept here is only which one is current and how far the making is. Killing the process leaves at most an unfinished build
 * in a temporary folder, which the ports collect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime, GuestAddress, ImageBuilder, Log, Template, VmDriver } from '@lodge/ports';

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
  /** The current template, or null while there is none. */
  current(kind: RuntimeKind): Template | null;
  /** A template of any age by its id. */
  get(id: string): Promise<Template | null>;
  /** Resolves with the current template as soon as there is one; rejects when `signal` aborts. */
  whenReady(kind: RuntimeKind, signal: AbortSignal): Promise<Template>;
  /** A clone found that template missing: when it is the current one, it is made again. */
  lost(kind: RuntimeKind, id: string): void;
  progress(kind: RuntimeKind): TemplateProgress;
  onProgress(listener: (progress: TemplateProgress) => void): () => void;
}

export interface TemplatesDeps {
  readonly driver: VmDriver;
  readonly images: ImageBuilder;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly log: Log;
  /** Bound on one build of image and template together. */
  readonly buildTimeoutMs: number;
  /** Templates that agents' disks lie over. */
  readonly inUse: () => Promise<ReadonlySet<string>>;
  readonly collectEveryMs: number;
}

const firstPauseMs = 5_000;
const longestPauseMs = 5 * 60_000;

export function createTemplates(deps: TemplatesDeps): Templates {
  return new TemplateKeeper(deps);
}

class TemplateKeeper implements Templates {
  private readonly deps: TemplatesDeps;
  private readonly ready = new Map<RuntimeKind, Template>();
  private readonly byId = new Map<string, Template>();
  private readonly states = new Map<RuntimeKind, TemplateProgress>();
  private readonly listeners = new Set<(progress: TemplateProgress) => void>();
  private readonly stopping = new AbortController();
  private work: Promise<void> = Promise.resolve();
  /** The build in hand, and those behind it. */
  private building: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(deps: TemplatesDeps) {
    this.deps = deps;
  }

  start(): void {
    for (const [kind, runtime] of this.deps.runtimes) this.also(this.keep(kind, runtime));
    this.timer = setInterval(() => {
      this.work = this.work.then(() => this.collect());
    }, this.deps.collectEveryMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.work;
  }

  current(kind: RuntimeKind): Template | null {
    return this.ready.get(kind) ?? null;
  }

  async get(id: string): Promise<Template | null> {
    const template = this.byId.get(id) ?? (await this.deps.driver.getTemplate(id));
    if (template) this.byId.set(id, template);
    return template;
  }

  whenReady(kind: RuntimeKind, signal: AbortSignal): Promise<Template> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const template = this.current(kind);
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
    if (!runtime || this.ready.get(kind)?.id !== id) return;
    this.ready.delete(kind);
    this.deps.log.warn({ runtime: runtime.name, template_id: id }, 'template is gone or damaged; it is made again');
    this.report(kind, 'building', 'the template is gone or damaged; it is made again', null);
    this.also(this.keep(kind, runtime));
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

  private async keep(kind: RuntimeKind, runtime: AgentRuntime): Promise<void> {
    const { signal } = this.stopping;
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        // One that is there waits for no build of another runtime's.
        const template = (await this.find(runtime)) ?? (await this.inTurn(() => this.make(kind, runtime)));
        this.byId.set(template.id, template);
        this.ready.set(kind, template);
        this.report(kind, 'ready', 'ready', 1);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.deps.log.error({ err: error, runtime: runtime.name, retry_in_ms: pauseMs }, 'template not made');
        this.report(kind, 'failed', error instanceof Error ? error.message : String(error), null);
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
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
    if (this.stopping.signal.aborted || this.ready.size < runtimes.size) return;
    try {
      const keep = new Set([...(await inUse()), ...[...this.ready.values()].map(({ id }) => id)]);
      const removed = await driver.collectTemplates(keep);
      for (const id of removed) this.byId.delete(id);
      if (removed.length > 0) log.info({ template_ids: removed }, 'templates that no agent needs are removed');
    } catch (error) {
      log.warn({ err: error }, 'unused templates not collected; it will be repeated');
    }
  }

  /** Its image need not be there any more. */
  private async find({ name, templateVariant: variant }: AgentRuntime): Promise<Template | null> {
    const { driver, images } = this.deps;
    return driver.findTemplate({ image: { id: await images.idOf(name) }, variant });
  }

  private async make(kind: RuntimeKind, runtime: AgentRuntime): Promise<Template> {
    const { driver, images, buildTimeoutMs } = this.deps;
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(buildTimeoutMs)]);
    const progress = (step: string, fraction?: number): void => this.report(kind, 'building', step, fraction ?? null);
    progress('looking for the image');
    const image = await images.ensure(runtime.name, progress, signal);
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
