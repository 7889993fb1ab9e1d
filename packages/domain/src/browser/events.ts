import { told } from '../events/kind.ts';

export const browserEvents = {
  'browser.control_taken': told<{ readonly seconds: number }>(
    "A person took mouse and keyboard of the agent's browser, for at most `seconds`; the agent's own calls to it wait.",
  ),
  'browser.control_released': told("A person gave mouse and keyboard of the agent's browser back before their time."),
} as const;
