import { createHash } from 'node:crypto';
import type { AgentRuntime } from '@lodge/ports';
import { bearer } from '../gateway/calls.ts';
import { originAt } from '../gateway/connection.ts';
import { guestCalls } from '../guest-calls.ts';
import { until } from '../guest-runtime.ts';
import { applySettings, inGuest } from './apply.ts';
import {
  configFiles,
  configVersion,
  gatewayPort,
  hermesVersion,
  homeFolder,
  hostFolder,
  routeFor,
  workspacePath,
} from './config.ts';
import { dashboardEndpoint } from './dashboard.ts';
import { awaitIdle, hermesOf, readFacts } from './gateway.ts';
import { logLines } from './log-lines.ts';
import { hermesSkills } from './skills.ts';
import { toolStep, turnFailure } from './reports.ts';
import { hermesTemplates } from './template.ts';

/** Rises with every change of a template's warm-up that `configVersion` does not count. */
const warmUpVersion = 1;
/** Longest time that a turn in progress may delay a stop. */
const suspendTimeoutMs = 60_000;
/** Bound on a resume, times the host's pace. */
const resumeTimeoutMs = 60_000;

/**
 * Hermes Agent as an agent's runtime.
 *
 * Only the instructions, the variables, the browser and the dashboard of an agent lie in its guest. Each request chooses provider API and context window
 * by its `model`, and the broker chooses the model itself. A change of an agent's model takes effect with its next request.
 *
 * Tools for a model: `terminal {command}` runs a shell command in the workspace as the agent's user, without approval;
 * `process`, `read_file {path}`, `write_file {path, content}`, `patch`, `search_files`, `execute_code`, `memory`, `todo`,
 * `skills_list`, `skill_view`, `skill_manage`; the host's, as `mcp__lodge__<tool>`. Relative paths start at the workspace.
 */
export function createHermesRuntime(): AgentRuntime {
  return {
    name: 'hermes',
    version: hermesVersion,
    // Models by Anthropic's API, tools by MCP, and the API server, beside the parts that every agent needs.
    source: { registry: 'PyPI', package: 'hermes-agent', extras: ['anthropic', 'mcp', 'sms'] },
    gatewayPort,
    data: { folders: [homeFolder, workspacePath], except: [hostFolder, ...configFiles] },
    templateVariant: `hermes-${hermesVersion}-config-${configVersion}-warm-up-${warmUpVersion}`,
    ...guestCalls(hermesOf, logLines),
    ...hermesTemplates,
    /** Waits until the gateway answers. A suspension shuts nothing, so a frozen process just continues. */
    async resume(guest, facts, _settings, signal) {
      const runtime = hermesOf(guest, facts);
      const timeoutMs = resumeTimeoutMs * runtime.guest.pace;
      const wait = { what: 'answer', timeoutMs, pauseMs: 50, attemptMs: 5_000, signal };
      await until(runtime, wait, async (options) => (await runtime.gateway.failing(options)) ?? {});
    },
    async quiesce(guest, facts, signal) {
      const runtime = hermesOf(guest, facts);
      await awaitIdle(runtime, suspendTimeoutMs, signal);
      await runtime.guest.sync(true, { signal });
      return facts;
    },
    inGuest,
    async apply(guest, facts, settings, signal) {
      await applySettings(hermesOf(guest, facts), guest.dial, settings, signal);
    },
    skills: hermesSkills,
    chatEndpoint({ dial }, facts, settings, { conversation }) {
      const { token, pictures } = readFacts(facts);
      return {
        dial,
        baseUrl: `${originAt(gatewayPort)}/v1`,
        headers: {
          ...bearer(token),
          ...(conversation !== null && { 'x-hermes-session-id': sessionOf(conversation) }),
        },
        model: routeFor(settings),
        takesPictures: pictures,
      };
    },
    turnFailure,
    toolStep,
    web(_guest, facts, { dashboard }, page) {
      const { token } = readFacts(facts);
      if (page === 'gateway') return { port: gatewayPort, headers: bearer(token) };
      return dashboard ? dashboardEndpoint(token) : null;
    },
  };
}

/** Returns a valid session id of Hermes for any text, the same for the same text. */
const sessionOf = (conversation: string): string =>
  `user-${createHash('sha256').update(conversation).digest('hex').slice(0, 32)}`;
