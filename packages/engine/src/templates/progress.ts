/** The progress of each runtime's templates, in words for the operator, and the agents that wait for one. */
import type { RuntimeKind } from '@lodge/domain';
import type { Template } from '@lodge/ports';

export interface TemplateProgress {
  readonly runtime: string;
  /** `early`: agents are made from a template that is still being warmed up. */
  readonly state: 'building' | 'early' | 'ready' | 'failed';
  /** The current step, or why it failed, in words for the operator. */
  readonly step: string;
  /** 0..1 where known. */
  readonly fraction: number | null;
  readonly since: Date;
}

export class Progress {
  private readonly nameOf: (kind: RuntimeKind) => string;
  private readonly states = new Map<RuntimeKind, TemplateProgress>();
  private readonly listeners = new Set<(progress: TemplateProgress) => void>();
  private readonly waiting = new Map<RuntimeKind, number>();

  constructor(nameOf: (kind: RuntimeKind) => string) {
    this.nameOf = nameOf;
  }

  of(kind: RuntimeKind): TemplateProgress {
    const begun = { state: 'building', step: 'not begun yet', fraction: null } as const;
    return this.states.get(kind) ?? { runtime: this.nameOf(kind), ...begun, since: new Date() };
  }

  on(listener: (progress: TemplateProgress) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  report(kind: RuntimeKind, state: TemplateProgress['state'], step: string, fraction: number | null): void {
    const before = this.of(kind);
    const since = before.state === state ? before.since : new Date();
    const progress = { runtime: before.runtime, state, step, fraction, since };
    this.states.set(kind, progress);
    for (const listener of this.listeners) listener(progress);
  }

  isAwaited(kind: RuntimeKind): boolean {
    return (this.waiting.get(kind) ?? 0) > 0;
  }

  /** Waits for a template and looks with every report. Rejects when `signal` aborts. */
  until(kind: RuntimeKind, look: () => Template | null, signal: AbortSignal): Promise<Template> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const template = look();
        if (template === null && !signal.aborted) return;
        if (this.listeners.delete(check)) this.waiting.set(kind, this.waiting.get(kind)! - 1);
        signal.removeEventListener('abort', check);
        if (template) resolve(template);
        else reject(new Error('gave up waiting for the template', { cause: signal.reason }));
      };
      this.listeners.add(check);
      this.waiting.set(kind, (this.waiting.get(kind) ?? 0) + 1);
      signal.addEventListener('abort', check);
      check();
    });
  }
}
