/** The resources of the API, by their names. The app, its document and the wiring go over this list. */
import { agentSkills } from './agent-skills.ts';
import { browser } from './browser.ts';
import { channels } from './channels.ts';
import { confirmations } from './confirmations.ts';
import { connections } from './connections.ts';
import { forks } from './forks.ts';
import { hooks } from './hooks.ts';
import { portable } from './portable.ts';
import { ports } from './ports.ts';
import type { Core } from './resource.ts';
import { schedules } from './schedules.ts';
import { skills } from './skills.ts';
import { snapshotFiles } from './snapshot-files.ts';
import { snapshots } from './snapshots.ts';
import { visits } from './visits.ts';
import { webhooks } from './webhooks.ts';

// One line each.
// prettier-ignore
const resources = {
  visits,
  ports,
  browser,
  channels,
  confirmations,
  connections,
  webhooks,
  skills,
  agentSkills,
  portable,
  schedules,
  hooks,
  snapshots,
  snapshotFiles,
  forks,
} as const;

type Resources = typeof resources;
/** The use-cases of every resource. */
export type UseCases = { readonly [Name in keyof Resources]: ReturnType<Resources[Name]['open']> };

export const openResources = (core: Core): UseCases =>
  Object.fromEntries(Object.entries(resources).map(([name, { open }]) => [name, open(core)])) as unknown as UseCases;

type Routes = Resources[keyof Resources]['routes'][number];
export const resourceRoutes = Object.values(resources).flatMap<Routes>(({ routes }) => [...routes]);
