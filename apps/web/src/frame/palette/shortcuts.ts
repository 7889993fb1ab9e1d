/** Keys that work on every page while nothing is being typed. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { pathTo } from '../../paths.ts';
import { useOpenAgent } from '../navigation.ts';

interface Shortcut {
  readonly keys: string;
  readonly does: string;
  /** Where it leads; `$agentId` is the agent that is open. */
  readonly to?: string;
}

/** Two keys are pressed one after the other. */
export const shortcuts: readonly Shortcut[] = [
  { keys: 'Ctrl K', does: 'Find a page, an agent or an action' },
  { keys: '?', does: 'Show these keys' },
  { keys: 'c', does: 'Create an agent', to: '/agents/new' },
  { keys: 'g h', does: 'Go home', to: '/' },
  { keys: 'g a', does: 'Go to the agents', to: '/agents' },
  { keys: 'g u', does: 'Go to usage and limits', to: '/account/usage' },
  { keys: 'g k', does: 'Go to the API keys', to: '/account/keys' },
  { keys: 'a c', does: 'This agent’s chat', to: '/agents/$agentId/chat' },
  { keys: 'a l', does: 'This agent’s log', to: '/agents/$agentId/logs' },
  { keys: 'a f', does: 'This agent’s files', to: '/agents/$agentId/files' },
  { keys: 'a t', does: 'This agent’s terminal', to: '/agents/$agentId/terminal' },
  { keys: 'a s', does: 'This agent’s settings', to: '/agents/$agentId/settings' },
];

/** The second key must come this soon. */
const chordMs = 1_200;

interface Actions {
  readonly palette: () => void;
  readonly keys: () => void;
}

export function useShortcuts(actions: Actions): void {
  const navigate = useNavigate();
  const agentId = useOpenAgent();
  const latest = useRef({ actions, agentId, navigate });
  useEffect(() => {
    latest.current = { actions, agentId, navigate };
  });
  useEffect(() => {
    let first = { key: '', at: 0 };
    const press = (event: KeyboardEvent): void => {
      const { actions: act, agentId: id, navigate: go } = latest.current;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        // A terminal needs the key itself.
        if (isTerminal(event.target)) return;
        event.preventDefault();
        return act.palette();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isBusy(event.target)) return;
      if (event.key === '?') return act.keys();
      const isChord = event.timeStamp - first.at < chordMs;
      const to = (isChord ? targetOf(`${first.key} ${event.key}`) : undefined) ?? targetOf(event.key);
      first = { key: event.key, at: event.timeStamp };
      if (to === undefined || (to.includes('$agentId') && id === undefined)) return;
      event.preventDefault();
      first = { key: '', at: 0 };
      void go({ to: pathTo(to, id) });
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const targetOf = (keys: string): string | undefined => shortcuts.find((shortcut) => shortcut.keys === keys)?.to;

const isTerminal = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-takes-keys]') !== null;

/** Something is being typed, or a dialog has the word. */
function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null || isTerminal(target)) return true;
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}
