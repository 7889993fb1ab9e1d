/**
 * Gives a running machine the size its row asks for. Tried once per execution and size: memory that the guest did not give
 * back stays until the next start, which makes the machine as asked for. A kill leaves it to the next pass.
 */
import { sizes } from '@lodge/domain';
import type { AgentRow } from '../ports/index.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { duration, machineWords } from './words.ts';

/** Which sizes were tried on which execution. */
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
    const rest = whole ? '' : `; ${machineWords(wanted)}, as size ${agent.size} has, at its next start`;
    const message = `The machine now has ${machineWords(machine)} (${duration(pass.elapsedMs)})${rest}.`;
    await pass.observe({ machine, log: pass.say('info', message) });
  } catch (error) {
    if (!(error instanceof StepFailed)) {
      tried.forget(id);
      throw error;
    }
    pass.note('warn', 'machine not resized', { err: error.cause });
    const message = `The machine keeps its size for now; size ${agent.size} is in effect at its next start.`;
    await pass.observe({ log: pass.say('warn', message) });
  }
}
