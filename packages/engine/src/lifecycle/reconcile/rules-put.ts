import type { AgentRow } from '@lodge/ports';

/** Which rules this process has put on which agent's machine. */
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

  /** Whether it is the first failure in a row. */
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
