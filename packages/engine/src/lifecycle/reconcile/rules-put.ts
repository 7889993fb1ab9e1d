import type { AgentRow } from '@lodge/store/agents';

/** The rules that this process has put on each agent's machine. */
export class RulesPut {
  private readonly put = new Map<string, string>();
  private readonly failing = new Set<string>();

  has({ id, executionId, egressVersion, egressApplied }: AgentRow): boolean {
    return egressApplied === egressVersion && this.put.get(id) === `${executionId} ${egressVersion}`;
  }

  add({ id, egressVersion }: AgentRow, executionId: string | null): void {
    this.put.set(id, `${executionId} ${egressVersion}`);
    this.failing.delete(id);
  }

  /** Notes a failure; returns whether it is the first one in a row. */
  failed(id: string): boolean {
    const first = !this.failing.has(id);
    this.failing.add(id);
    return first;
  }

  forget(id: string): void {
    this.put.delete(id);
    this.failing.delete(id);
  }
}
