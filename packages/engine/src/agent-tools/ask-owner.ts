import type { Tool } from './deps.ts';

const defaultWaitSeconds = 60;

/** Asks the owner. The answer is null where nobody has answered, and says why. */
export const askOwner: Tool<'ask_owner'> = async ({ guard }, { guest, args, signal }) => {
  const { question, options = [], wait_seconds: seconds = defaultWaitSeconds } = args;
  return { ...(await guard!.question(guest, { question, options }, seconds * 1_000, signal)) };
};
