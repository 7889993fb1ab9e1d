import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { SquareTerminal } from 'lucide-react';
import { agentRoute } from '../route.ts';

export interface TerminalSearch {
  /** `root`: the shell runs as the machine's root. The agent's own user without it. */
  readonly user?: 'root';
}

export const terminalRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'terminal',
  staticData: { nav: { group: 'Machine', label: 'Terminal', Icon: SquareTerminal } },
  validateSearch: ({ user }: Readonly<Record<string, unknown>>): TerminalSearch =>
    user === 'root' ? { user: 'root' } : {},
  component: lazyPage(() => import('./terminal-page.tsx'), 'TerminalPage'),
});
