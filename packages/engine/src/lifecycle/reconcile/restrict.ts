/**
 * `restrict`: puts the row's egress rules on the network of the agent's machine, which runs or is frozen. It runs when the
 * rules have changed, and once for each machine of an earlier process, whatever the row says. A kill between doing and
 * saying leaves it to the next process; a new machine has its rules before its first instruction.
 */
import type { AgentRow } from '@lodge/store/agents';
import type { ReconcilerDeps } from './deps.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';

export async function restrict(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  const { mode, allow } = agent.egress;
  const failed = await pass.attempt(deps.bounds.restrictMs, () => deps.driver.setEgress(id, agent.egress));
  if (failed instanceof StepFailed) {
    if (deps.rulesPut.failed(id)) await pass.observe({ event: { type: 'agent.egress_delayed', data: {} } });
    // The loop logs the error for the operator and tries again.
    throw failed;
  }
  if (agent.egressApplied !== agent.egressVersion) {
    const event = { type: 'agent.egress_applied', data: { mode, entries: allow.length } } as const;
    await pass.observe({ egressApplied: agent.egressVersion, event });
  }
  deps.rulesPut.add(agent, agent.executionId);
}

/** Lets a frozen VM go on, under the current rules. */
export async function goOnRestricted({ driver, rulesPut }: ReconcilerDeps, agent: AgentRow): Promise<void> {
  if (!rulesPut.has(agent)) await driver.setEgress(agent.id, agent.egress);
  await driver.resume(agent.id, agent.executionId!);
}
