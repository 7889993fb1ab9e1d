import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { ScrollText } from 'lucide-react';
import { agentRoute } from '../route.ts';
import { levelNames, sourceNames } from './log-words.ts';
import type { LogLevel, LogSource } from './log-words.ts';

/** The state of the page that its address holds. */
export interface LogSearch {
  /** This level and the more severe ones. */
  readonly level?: LogLevel;
  readonly source?: LogSource;
  /** A part of the message. */
  readonly q?: string;
  /** The time to read from, in ISO 8601; without one the page follows the log. */
  readonly at?: string;
  /** `1`: long lines are wrapped. */
  readonly wrap?: '1';
}

/** The API takes no longer one. */
const maxSearch = 200;

export const logsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'logs',
  staticData: { nav: { group: 'Machine', label: 'Logs', Icon: ScrollText } },
  validateSearch: (given: Readonly<Record<string, unknown>>): LogSearch => {
    const level = levelNames.find((name) => name === given['level']);
    const source = sourceNames.find((name) => name === given['source']);
    const { q, at } = given;
    return {
      ...(level !== undefined && { level }),
      ...(source !== undefined && { source }),
      ...(typeof q === 'string' && q !== '' && { q: q.slice(0, maxSearch) }),
      ...(typeof at === 'string' && isTime(at) && { at: new Date(at).toISOString() }),
      ...(given['wrap'] === '1' && { wrap: '1' as const }),
    };
  },
  component: lazyPage(() => import('./logs-page.tsx'), 'LogsPage'),
});

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
