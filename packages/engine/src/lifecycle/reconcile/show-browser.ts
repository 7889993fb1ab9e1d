/**
 * `show-browser`: shows the browser's disk to the running guest of an agent that wants a browser. The driver begins to build
 * the disk where the host has none; the step is due again until the guest sees it. It changes no row, so a kill costs
 * nothing: the next process asks once for each machine.
 */
import type { BrowserShown } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { LookAgain, StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';

/** When the driver is asked again, after each of its answers. A machine that runs for months is offered a newer disk. */
const pausesMs: Readonly<Record<BrowserShown['state'], number>> = {
  shown: 24 * 60 * 60_000,
  no_device: 24 * 60 * 60_000,
  building: 5_000,
  failed: 60_000,
};

/** The machines whose guests this process has shown the disk, or that wait for it. */
export class BrowsersShown {
  private readonly last = new Map<string, { readonly executionId: string | null; readonly next: number }>();

  /** Whether there is nothing to do for now. */
  fits({ id, executionId, browser }: AgentRow): boolean {
    const last = this.last.get(id);
    return !browser || (last?.executionId === executionId && performance.now() < last.next);
  }

  add({ id, executionId }: AgentRow, state: BrowserShown['state']): void {
    this.last.set(id, { executionId, next: performance.now() + pausesMs[state] });
  }

  forget(id: string): void {
    this.last.delete(id);
  }
}

export async function showBrowser(pass: Pass, shown: BrowsersShown): Promise<void> {
  const { agent, deps, id } = pass;
  const ask = (): Promise<BrowserShown> => deps.driver.showBrowser(id, agent.executionId!);
  try {
    const { state, message } = await pass.within(deps.bounds.showBrowserMs, ask);
    if (state === 'failed') pass.logToOperator('warn', 'no browser yet; it will be tried again', { why: message });
    shown.add(agent, state);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    await pass.checkStillThere(error);
    pass.logToOperator('warn', 'the guest does not see the browser; it will be tried again', { err: error.cause });
    // Everything else of the agent goes on meanwhile.
    shown.add(agent, 'failed');
  }
  // No row has changed, which would wake the loop, and another step may be due.
  throw new LookAgain(null);
}
