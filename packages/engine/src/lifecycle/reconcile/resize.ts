/**
 * Gives a running machine the size that its row asks for. Each size is tried once per execution: memory that the guest did
 * not give back stays until the next start, which makes the machine in its full size. A kill leaves the resize to the next
 * pass.
 */
import { sizes } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';

/** The sizes that were tried on each execution. */
export class ResizesTried {
  private readonly tried = new Map<string, string>();

  has({ id, executionId, size }: AgentRow): boolean {
    return this.tried.get(id) === `${executionId} ${size}`;
  }

  add({ id, executionId, size }: AgentRow): void {
    this.tried.set(id, `${executionId} ${size}`);
  }

  forget(id: string): void {
    this.tried.delete(id);
  }
}

export async function resize(pass: Pass, tried: ResizesTried): Promise<void> {
  const { agent, deps, id } = pass;
  const wanted = sizes[agent.size];
  tried.add(agent);
  try {
    const machine = await pass.within(deps.bounds.resizeMs, (signal) =>
      deps.driver.resize(id, agent.executionId!, wanted, signal),
    );
    const whole = machine.vcpus === wanted.vcpus && machine.memoryMib === wanted.memoryMib;
    const asked = { size: whole ? null : agent.size, size_vcpus: wanted.vcpus, size_memory_mib: wanted.memoryMib };
    const data = { vcpus: machine.vcpus, memory_mib: machine.memoryMib, ...asked, ...pass.took };
    await pass.observe({ machine, event: { type: 'agent.resized', data } });
  } catch (error) {
    if (!(error instanceof StepFailed)) {
      tried.forget(id);
      throw error;
    }
    pass.logToOperator('warn', 'machine not resized', { err: error.cause });
    await pass.observe({ event: { type: 'agent.resize_failed', data: { size: agent.size } } });
  }
}
