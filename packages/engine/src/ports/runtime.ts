import type { RuntimeFacts } from './vm-driver.ts';
import type { ReportProgress } from './images.ts';

/** What of an agent its runtime must know. No secret is in it: keys are added by the broker on the way out. */
export interface AgentSettings {
  readonly agentId: string;
  /** How the agent's provider speaks. */
  readonly api: LlmApi;
  /** Tokens the model can take in, where known. */
  readonly contextWindow: number | null;
}

/** Wire format of an LLM provider's API. */
export type LlmApi = 'openai-completions' | 'anthropic-messages';

export interface GuestAddress {
  readonly address: string;
}

/** Where and how to speak to an agent's OpenAI-compatible endpoint. `headers` hold the gateway's token: host only. */
export interface ChatEndpoint {
  /** Full URL of `POST chat/completions`. */
  readonly chatCompletionsUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the runtime wants in `model`. */
  readonly model: string;
}

/** What runs inside a guest, and how it is spoken to. Knows nothing of how the guest was started. */
export interface AgentRuntime {
  /** `openclaw` or `hermes`: also the name of its image. */
  readonly name: string;
  readonly version: string;
  /** Changes whenever `prepareTemplate` would leave a different guest behind. */
  readonly templateVariant: string;
  /** Starts the stand-in LLM that a template is warmed up against, on `host`, any free port. Answers at once; knows no key. */
  startWarmupLlm(host: string): Promise<{ readonly port: number; close(): Promise<void> }>;
  /** From a guest whose daemon answers to a runtime that is configured, warm and suspended, page cache dropped. Returns within seconds of the last warm chat. */
  prepareTemplate(guest: GuestAddress, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
  /** In a fresh clone: opens the gateway again and brings the agent's settings into effect, rewriting nothing when the template already fits. */
  resumeClone(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /** After a cold boot of an agent's own disk: waits until the gateway serves with the agent's settings. */
  awaitBoot(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /** `settings` as they are now: a change of the agent's model is in effect with its next request. */
  chatEndpoint(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings): ChatEndpoint;
}
