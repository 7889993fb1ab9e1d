/** The groups of settings: the record's fields as forms have them, and the requests that change them. */
import { maxPackageLength, maxPackages, packageForms, packageManagers, packagePatterns } from '@lodge/contract/words';
import type { PackageManager } from '@lodge/contract/words';
import type { Agent } from '@lodge/sdk';
import { checks } from '../../../components/form/checks.ts';
import { labelsProblem, pairsOf, recordOf } from '../../../components/form/pairs-field.tsx';
import type { Pair } from '../../../components/form/pairs-field.tsx';
import { bytesOf, maxInstructionBytes } from '../../create/draft.ts';
import type { Kind } from './use-setting.ts';

const changed = <T>(value: T, before: T): boolean => JSON.stringify(value) !== JSON.stringify(before);
const lines = (text: string): string[] =>
  [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '');

/** Pairs to set, and null for those to remove. */
function pairsPatch(pairs: readonly Pair[], before: readonly Pair[]): Record<string, string | null> {
  const [now, was] = [recordOf(pairs), recordOf(before)];
  const removed = Object.keys(was).filter((name) => !(name in now));
  return { ...now, ...Object.fromEntries(removed.map((name) => [name, null])) };
}

const twice = (pairs: readonly Pair[]): string | undefined => {
  const names = pairs.map(([name]) => name.trim());
  if (pairs.some(([name, value]) => name.trim() === '' && value.trim() !== '')) return 'Each note needs a name.';
  const found = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  return found === undefined ? undefined : `The note “${found}” is there twice.`;
};

export type About = { name: string; description: string; labels: readonly Pair[]; metadata: readonly Pair[] };
export const about: Kind<About> = {
  id: 'about',
  name: 'About',
  of: ({ name, description, labels, metadata }) => ({
    name,
    description: description ?? '',
    labels: pairsOf(labels),
    metadata: pairsOf(metadata),
  }),
  patch: (now, was) => ({
    ...(now.name !== was.name && { name: now.name.trim() }),
    ...(now.description !== was.description && { description: now.description.trim() || null }),
    ...(changed(now.labels, was.labels) && { labels: pairsPatch(now.labels, was.labels) }),
    ...(changed(now.metadata, was.metadata) && { metadata: pairsPatch(now.metadata, was.metadata) }),
  }),
  check: ({ name, labels, metadata }) => ({
    name: checks.name(name),
    labels: labelsProblem(labels),
    metadata: twice(metadata),
  }),
};

export type Instructions = { instructions: string };
export const instructions: Kind<Instructions> = {
  id: 'instructions',
  name: 'Instructions',
  of: (agent) => ({ instructions: agent.instructions ?? '' }),
  patch: ({ instructions: text }) => ({ instructions: text.trim() === '' ? null : text }),
  check: ({ instructions: text }) => ({
    instructions: bytesOf(text) > maxInstructionBytes ? 'Up to 32 KB fit. Move long material into files.' : undefined,
  }),
};

export type Model = { model: string; others: 'any' | 'some'; models: string };
export const model: Kind<Model> = {
  id: 'model',
  name: 'Model',
  of: (agent) => ({
    model: agent.model,
    others: agent.models === null ? 'any' : 'some',
    models: (agent.models ?? []).join('\n'),
  }),
  patch: (now, was) => ({
    ...(now.model !== was.model && { model: now.model.trim() || null }),
    ...((now.others !== was.others || now.models !== was.models) && {
      models: now.others === 'any' ? null : lines(now.models),
    }),
  }),
  check: ({ others, models }) => {
    const wrong =
      others === 'some'
        ? lines(models).find((name) => !/^[a-z0-9][a-z0-9._-]*\/[\u0021-\u007e]+$/.test(name))
        : undefined;
    return { models: wrong === undefined ? undefined : `“${wrong}” has no provider: write it as provider/model.` };
  },
};

export type SizeValues = { size: Agent['size'] };
export const size: Kind<SizeValues> = {
  id: 'size',
  name: 'Machine',
  of: (agent) => ({ size: agent.size }),
  patch: (now) => ({ size: now.size }),
};

export type Sleep = {
  idle: string;
  stop: string;
  always: boolean;
  resume: boolean;
  start: boolean;
  wake: boolean;
};
const minutes = (seconds: number): string => String(Number((seconds / 60).toFixed(2)));
const maxMinutes = 31_536_000 / 60;
const minutesProblem = (text: string): string | undefined =>
  /^\d{1,6}(\.\d{1,2})?$/.test(text.trim()) && Number(text) <= maxMinutes
    ? undefined
    : 'Enter minutes, such as 15; up to a year.';

export const sleep: Kind<Sleep> = {
  id: 'sleep',
  name: 'Sleep',
  of: ({ lifecycle }) => ({
    idle: minutes(lifecycle.idle_timeout_seconds),
    stop: minutes(lifecycle.stop_after_seconds),
    always: lifecycle.keep_awake === 'always',
    resume: lifecycle.auto_resume,
    start: lifecycle.auto_start,
    wake: lifecycle.wake_on_message,
  }),
  patch: (now, was) => ({
    lifecycle: {
      ...(now.idle !== was.idle && { idle_timeout_seconds: Math.round(Number(now.idle) * 60) }),
      ...(now.stop !== was.stop && { stop_after_seconds: Math.round(Number(now.stop) * 60) }),
      ...(now.always !== was.always && { keep_awake: now.always ? ('always' as const) : ('auto' as const) }),
      ...(now.resume !== was.resume && { auto_resume: now.resume }),
      ...(now.start !== was.start && { auto_start: now.start }),
      ...(now.wake !== was.wake && { wake_on_message: now.wake }),
    },
  }),
  check: ({ idle, stop }) => ({ idle: minutesProblem(idle), stop: minutesProblem(stop) }),
};

export type Limit = { daily: string; monthly: string; action: 'block' | 'pause' };
export const limit: Kind<Limit> = {
  id: 'limit',
  name: 'Spend limit',
  of: ({ spend_limit: own }) => ({
    daily: own?.daily_usd ?? '',
    monthly: own?.monthly_usd ?? '',
    action: own?.action ?? 'block',
  }),
  patch: ({ daily, monthly, action }) => ({
    spend_limit:
      daily.trim() === '' && monthly.trim() === ''
        ? null
        : { daily_usd: daily.trim() || null, monthly_usd: monthly.trim() || null, action },
  }),
  check: ({ daily, monthly }) => ({ daily: checks.optionalUsd(daily), monthly: checks.optionalUsd(monthly) }),
};

export type Peers = { who: 'none' | 'all' | 'some'; ids: readonly string[] };
export const peers: Kind<Peers> = {
  id: 'peers',
  name: 'Peers',
  of: ({ peers: ids }) => {
    const who = ids.includes('*') ? 'all' : ids.length === 0 ? 'none' : 'some';
    return { who, ids: ids.filter((id) => id !== '*') };
  },
  patch: ({ who, ids }) => ({ peers: who === 'all' ? ['*'] : who === 'none' ? [] : ids }),
  check: ({ who, ids }) => ({ ids: who === 'some' && ids.length === 0 ? 'Choose at least one agent.' : undefined }),
};

export type Packages = Record<PackageManager, string>;
const ofManagers = <T>(of: (manager: PackageManager) => T): Record<PackageManager, T> =>
  Object.fromEntries(packageManagers.map((manager) => [manager, of(manager)])) as Record<PackageManager, T>;

function packagesProblem(manager: PackageManager, text: string): string | undefined {
  const entries = lines(text);
  if (entries.length > maxPackages) return `Name at most ${maxPackages} packages.`;
  const pattern = new RegExp(packagePatterns[manager], 'u');
  const wrong = entries.find((entry) => entry.length > maxPackageLength || !pattern.test(entry));
  return wrong === undefined ? undefined : `“${wrong.slice(0, 60)}” ${packageForms[manager]}.`;
}

export const packages: Kind<Packages> = {
  id: 'packages',
  name: 'Packages',
  of: (agent) => ofManagers((manager) => agent.packages[manager].join('\n')),
  // A request has all three lists.
  patch: (now) => ({ packages: ofManagers((manager) => lines(now[manager])) }),
  check: (now) => ofManagers((manager) => packagesProblem(manager, now[manager])),
};

export type Dashboard = { dashboard: boolean };
/** `dashboard_url` is null where it is off. */
export const dashboard: Kind<Dashboard> = {
  id: 'dashboard',
  name: 'Dashboard',
  of: ({ dashboard_url: url }) => ({ dashboard: url !== null }),
  patch: (now) => ({ dashboard: now.dashboard }),
};
