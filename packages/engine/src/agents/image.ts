import { looksForSkills } from '@lodge/domain';
import type { SkillSight, WantedSkills } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { AgentsDeps } from './deps.ts';
import { guestOfRow } from './guest-of.ts';

/**
 * Whether the agent's machine looks for skills of its owner. One that is yet to be made will. So may one of another host, whose
 * templates are not here.
 */
export async function imageHasSkills(
  { templates }: Pick<AgentsDeps, 'templates'>,
  { runtimeKind, templateId }: AgentRow,
): Promise<boolean> {
  const template = templateId === null ? null : await templates.get(templateId);
  return template === null || looksForSkills(runtimeKind, template.variant);
}

/** Asks the runtime of an agent, which runs here, how it sees skills. Null when it or its template is gone. */
export async function seeSkills(
  { templates, runtimes, driver }: Pick<AgentsDeps, 'templates' | 'runtimes' | 'driver'>,
  row: AgentRow,
  wanted: WantedSkills,
  boundMs: number,
): Promise<readonly SkillSight[] | null> {
  const template = row.templateId === null ? null : await templates.get(row.templateId);
  const runtime = runtimes.get(row.runtimeKind);
  if (template === null || runtime === undefined) return null;
  const signal = AbortSignal.timeout(boundMs * driver.pace);
  return runtime.skills.look(guestOfRow(driver, row), template.facts, wanted, signal);
}
