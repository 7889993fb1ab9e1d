import type { AgentRuntime } from '@lodge/engine/ports';
import { configVersion, gatewayPort, modelFor, openclawVersion } from './config.ts';
import { readFacts } from './facts.ts';
import { bearer, chatModel, chatPath, modelHeader } from './gateway.ts';
import { guestRuntime } from './guest-runtime.ts';
import { awaitReady } from './ready.ts';
import { resume } from './suspension.ts';
import { prepareTemplate } from './template.ts';
import { startWarmupLlm } from './warmup-llm.ts';

/** Rises with every change to how a template is warmed, beside what `configVersion` counts. */
const warmUpVersion = 1;

/**
 * OpenClaw as an agent's runtime.
 *
 * Nothing of an agent is written into its guest: provider API and context window are chosen with each request by a header,
 * the model itself by the broker. A change of an agent's model is in effect with its next request.
 *
 * Tools a model is offered: `exec {command}` runs a shell command in the workspace as the agent's user, without approval;
 * `write {path, content}`, `read {path}`, `edit {path, edits: [{oldText, newText}]}`, `ls {path?}`, `apply_patch {input}`,
 * `process {action, sessionId?}`; through `tool_call {id, args}` also `web_fetch` and `session_status`. Relative paths are
 * of the workspace.
 */
export function createOpenclawRuntime(): AgentRuntime {
  return {
    name: 'openclaw',
    version: openclawVersion,
    templateVariant: `openclaw-${openclawVersion}-config-${configVersion}-warm-up-${warmUpVersion}`,
    startWarmupLlm,
    prepareTemplate: async ({ address }, progress, signal) => ({
      ...(await prepareTemplate(address, progress, signal)),
    }),
    async resumeClone({ address }, facts, _settings, signal) {
      const { token, suspensionId } = readFacts(facts);
      await resume(guestRuntime(address, token), suspensionId, signal);
    },
    async awaitBoot({ address }, facts, _settings, signal) {
      await awaitReady(guestRuntime(address, readFacts(facts).token), signal, () => undefined);
    },
    chatEndpoint({ address }, facts, settings) {
      return {
        chatCompletionsUrl: `http://${address}:${gatewayPort}${chatPath}`,
        headers: { ...bearer(readFacts(facts).token), ...modelHeader(modelFor(settings)) },
        model: chatModel,
      };
    },
  };
}
