/**
 * Watches, at the store, the changes of agents' machines begin and end: whoever begins or ends one, in this process or in
 * another, passes through it. Creates count as one of them.
 */
import type { OperationCause, Verb } from '@lodge/domain';
import type { AgentRow, AgentStore, Observation } from '@lodge/engine/ports';

export interface EndedOperation {
  readonly kind: Verb | 'create';
  readonly cause: OperationCause;
  readonly outcome: 'ok' | 'failed';
  readonly seconds: number;
}

interface Pending extends Pick<EndedOperation, 'kind' | 'cause'> {
  readonly startedAt: number;
}

const goals: Readonly<Record<EndedOperation['kind'], AgentRow['status']>> = {
  create: 'running',
  start: 'running',
  resume: 'running',
  restart: 'running',
  upgrade: 'running',
  pause: 'paused',
  stop: 'stopped',
};

/** The same store; `ended` is called for each operation whose end is written through it. */
export function watchOperations(store: AgentStore, ended: (operation: EndedOperation) => void): AgentStore {
  const pending = new Map<string, Pending>();
  /** One that was begun elsewhere, or before a restart, is known from its row. */
  const note = ({ id, operation }: AgentRow): void => {
    if (operation === null || pending.has(id)) return;
    pending.set(id, { kind: operation.kind, cause: operation.cause, startedAt: operation.startedAt.getTime() });
  };
  const observed = (id: string, { status, statusReason, operation }: Observation): void => {
    const begun = pending.get(id);
    if (!begun) return;
    const isOver = begun.kind === 'create' ? status === 'running' || status === 'error' : operation === null;
    if (!isOver) return;
    pending.delete(id);
    const { kind, cause, startedAt } = begun;
    // An upgrade that came to nothing leaves the agent running too, and says why.
    const outcome = status === goals[kind] && !statusReason ? 'ok' : 'failed';
    ended({ kind, cause, outcome, seconds: Math.max(0, Date.now() - startedAt) / 1000 });
  };
  const watched: Partial<AgentStore> = {
    async create(agent, admit, change) {
      const row = await store.create(agent, admit, change);
      pending.set(row.id, { kind: 'create', cause: 'request', startedAt: Date.now() });
      return row;
    },
    async begin(id, cause, decide, change) {
      const begun = await store.begin(id, cause, decide, change);
      if (begun?.admission.do === 'begin')
        pending.set(id, { kind: begun.admission.kind, cause, startedAt: Date.now() });
      return begun;
    },
    async find(id) {
      const row = await store.find(id);
      if (row) note(row);
      return row;
    },
    async present(host) {
      const rows = await store.present(host);
      rows.forEach(note);
      return rows;
    },
    async observe(id, generation, holder, facts) {
      const isWritten = await store.observe(id, generation, holder, facts);
      if (isWritten) observed(id, facts);
      return isWritten;
    },
    async finishDelete(id, holder) {
      pending.delete(id);
      await store.finishDelete(id, holder);
    },
  };
  return new Proxy(store, {
    get(target, name) {
      const own: unknown = Reflect.get(watched, name);
      if (own !== undefined) return own;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
    },
  });
}
