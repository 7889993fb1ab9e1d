import type { AgentRuntime } from '@lodge/ports';
import { applySettings, inGuest } from './apply.ts';
import { chatTarget } from './chat-target.ts';
import { configPath, configVersion, gatewayPort, homeFolder, openclawVersion, workspacePath } from './config.ts';
import { bearer } from '../gateway/calls.ts';
import { originAt } from '../gateway/connection.ts';
import { guestCalls } from '../guest-calls.ts';
import { logLines } from './log-lines.ts';
import { openclawOf, readFacts } from './gateway.ts';
import { openclawSkills } from './skills.ts';
import { reopen, resume, suspend } from './suspension.ts';
import { toolStep, turnFailure } from './reports.ts';
import { openclawTemplates } from './template.ts';

/** Rises with every change of a template's warm-up that `configVersion` does not count. */
const warmUpVersion = 3;
/** Longest time that a turn in progress may delay a stop. */
const suspendTimeoutMs = 60_000;

/**
 * OpenClaw as an agent's runtime.
 *
 * Only instructions, members and variables are written into an agent's guest (`apply.ts`). A header of each request chooses provider
 * API and context window, and the broker chooses the model itself. A change of an agent's model takes effect with its next
 * request.
 *
 * Tools for a model: `exec {command}` runs a shell command in the workspace as the agent's user, without approval; `write
 * {path, content}`, `read {path}`, `edit {path, edits: [{oldText, newText}]}`, `ls {path?}`, `apply_patch {input}`, `process
 * {action, sessionId?}`; the host's, as `lodge__<tool>`; through `tool_call {id, args}` also `web_fetch` and
 * `session_status`. With more than 48 tools in all, those of connections are reached through `tool_search` and `tool_call`,
 * too. Relative paths start at the workspace.
 */
export function createOpenclawRuntime(): AgentRuntime {
  return {
    name: 'openclaw',
    version: openclawVersion,
    source: { registry: 'npm', package: 'openclaw' },
    templateVariant: `openclaw-${openclawVersion}-config-${configVersion}-warm-up-${warmUpVersion}`,
    gatewayPort,
    data: { folders: [homeFolder, workspacePath], except: [configPath] },
    ...guestCalls(openclawOf, logLines),
    ...openclawTemplates,
    async resume(guest, facts, _settings, signal) {
      await resume(openclawOf(guest, facts), readFacts(facts).suspensionId, signal);
    },
    async quiesce(guest, facts, signal) {
      const runtime = openclawOf(guest, facts);
      const suspensionId = await suspend(runtime, suspendTimeoutMs, signal);
      try {
        await runtime.guest.sync(true, { signal });
      } catch (error) {
        await reopen(runtime, suspensionId);
        throw error;
      }
      return { ...facts, suspensionId };
    },
    inGuest,
    async apply(guest, facts, settings, signal) {
      await applySettings(openclawOf(guest, facts), settings, signal);
    },
    skills: openclawSkills,
    chatEndpoint({ dial }, facts, settings, turn) {
      const { token, ...guestFacts } = readFacts(facts);
      const { model, headers, takesPictures } = chatTarget(settings, guestFacts, turn);
      return {
        dial,
        baseUrl: `${originAt(gatewayPort)}/v1`,
        headers: { ...bearer(token), ...headers },
        model,
        takesPictures,
      };
    },
    turnFailure,
    toolStep,
    web(_guest, facts, _settings, page) {
      if (page !== 'gateway') return null;
      return { port: gatewayPort, headers: bearer(readFacts(facts).token) };
    },
  };
}
