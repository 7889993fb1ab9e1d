import { Refusal } from '@lodge/domain';
import type { AgentToolsDeps, Tool } from './deps.ts';
import type { ToolGuest } from './tool-guest.ts';

const defaultWaitSeconds = 60;
const takeOverOptions = ['Done', 'Not possible'];

/** Asks the owner. The answer is null where nobody has answered, and says why. */
export const askOwner: Tool<'ask_owner'> = async (deps, { guest, args, signal }) => {
  const { question, wait_seconds: seconds = defaultWaitSeconds } = args;
  const takeOver = args.take_over === true ? await browserPage(deps, guest) : null;
  const options = args.options ?? (takeOver === null ? [] : takeOverOptions);
  const asked = { question, options, ...(takeOver !== null && { takeOver }) };
  return { ...(await deps.guard!.question(guest, asked, seconds * 1_000, signal)) };
};

/**
 * The page of the agent's browser, on which a signed-in person opens the view. Others who read the conversation can do nothing
 * with it.
 */
async function browserPage(
  { agents, dashboardUrl }: AgentToolsDeps,
  { accountId, agentId }: ToolGuest,
): Promise<string> {
  const { browser } = await agents.get(accountId, agentId);
  if (!browser) throw new Refusal('invalid_request', 'take_over: you have no browser.');
  return `${dashboardUrl}/agents/${agentId}/browser`;
}
