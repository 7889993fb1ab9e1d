/** Finds the agent that a person means: by its id, its exact name, or a beginning of its id that no other has. */
import type { Agent } from '@lodge/sdk';
import { CommandError, exitCodes, usageError } from './failure.ts';
import type { Run } from './run.ts';
import { quoted, safeLine } from './terminal/safe.ts';

const idPattern = /^[a-z][a-z0-9]{11}$/;
const beginningPattern = /^[a-z][a-z0-9]{0,10}$/;
const maxNameChars = 100;
const maxShown = 10;

/** Returns the agent; fails with the candidates where several are meant. */
export async function agentOf(run: Run, meant: string): Promise<Agent> {
  const found =
    (await byId(run, meant)) ?? only(meant, await byName(run, meant)) ?? only(meant, await byBeginning(run, meant));
  if (found) return found;
  throw new CommandError(
    exitCodes.notFound,
    `There is no agent ${quoted(meant)}.`,
    '`lodge agents list` shows your agents.',
  );
}

/** Returns the id alone, which needs no request where the id itself was given in full and is an agent's. */
export const agentIdOf = async (run: Run, meant: string): Promise<string> => (await agentOf(run, meant)).id;

async function byId(run: Run, meant: string): Promise<Agent | undefined> {
  if (!idPattern.test(meant)) return undefined;
  const lodge = await run.lodge();
  try {
    return await lodge.agents.get(meant, run.call);
  } catch (error) {
    if ((error as { readonly status?: unknown }).status === 404) return undefined;
    throw error;
  }
}

async function byName(run: Run, meant: string): Promise<Agent[]> {
  const name = meant.trim();
  if (name === '' || name.length > maxNameChars || /[\0\ud800-\udfff]/u.test(name)) return [];
  const lodge = await run.lodge();
  const found: Agent[] = [];
  for await (const agent of lodge.agents.list({ name, limit: 100 }, run.call))
    if (agent.name === name) found.push(agent);
  return found;
}

async function byBeginning(run: Run, meant: string): Promise<Agent[]> {
  if (!beginningPattern.test(meant)) return [];
  const lodge = await run.lodge();
  const found: Agent[] = [];
  for await (const agent of lodge.agents.list({ limit: 100 }, run.call))
    if (agent.id.startsWith(meant)) found.push(agent);
  return found;
}

function only(meant: string, found: readonly Agent[]): Agent | undefined {
  if (found.length <= 1) return found[0];
  const shown = found.slice(0, maxShown).map(({ id, name }) => `${safeLine(id, 20)} (${safeLine(name, 60)})`);
  const more = found.length > maxShown ? `, and ${found.length - maxShown} more` : '';
  throw usageError(
    `${quoted(meant)} could be ${found.length} agents: ${shown.join(', ')}${more}.`,
    'Give the id of one.',
  );
}
