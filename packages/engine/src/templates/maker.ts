/**
 * Finds and makes one template of a runtime: first the image, then the guest, which is warmed up against a stub provider.
 */
import type { AgentRuntime, GuestAddress, ImageBuilder, ReportProgress, RuntimeFacts } from '@lodge/ports';
import type { EarlyTemplate, RuntimeVersion, Template, TemplateBuild, VmDriver } from '@lodge/ports';
import type { BuildBound } from './build-bound.ts';

export interface MakerDeps {
  readonly driver: VmDriver;
  readonly images: ImageBuilder;
}

/** A template that is wanted. */
export interface Wanted {
  readonly runtime: AgentRuntime;
  readonly version: RuntimeVersion;
  /** `from` is the early template whose guest goes on. */
  readonly stage: 'early' | 'full' | { readonly from: Template };
}

export class TemplateMaker {
  private readonly deps: MakerDeps;

  constructor(deps: MakerDeps) {
    this.deps = deps;
  }

  /** Finds a template. Its image need not exist any more. */
  async find({ runtime, version, stage }: Wanted): Promise<Template | null> {
    const { driver, images } = this.deps;
    const variant = stage === 'early' ? earlyVariant(runtime) : runtime.templateVariant;
    return variant === null ? null : driver.findTemplate({ image: { id: await images.idOf(version.image) }, variant });
  }

  async make(wanted: Wanted, progress: ReportProgress, bound: BuildBound): Promise<Template> {
    const { driver, images } = this.deps;
    const { signal } = bound;
    const { runtime, version, stage } = wanted;
    progress('looking for the image');
    const image = await images.ensure(version.image, progress, signal);
    bound.next();
    const found = await this.find(wanted);
    if (found) return found;
    const variant = stage === 'early' ? earlyVariant(runtime)! : runtime.templateVariant;
    const llm = await runtime.startWarmupLlm(driver.brokerHost);
    try {
      const prepare = (guest: GuestAddress, own: AbortSignal) => {
        bound.next(guest.pace ?? 1);
        return preparationOf(wanted, guest, progress, own);
      };
      const from = typeof stage === 'object' ? stage : {};
      const build: TemplateBuild = { image, variant, brokerPort: llm.port, prepare, progress, ...from };
      return await driver.buildTemplate(build, signal);
    } finally {
      await llm.close();
    }
  }
}

/** The variant of the early template; null: the runtime has none. */
export const earlyVariant = ({ templateVariant, early }: AgentRuntime): string | null =>
  early ? `${templateVariant}-early-${early.variant}` : null;

function preparationOf(
  { runtime, stage }: Wanted,
  guest: GuestAddress,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<RuntimeFacts> {
  if (stage === 'full') return runtime.prepareTemplate(guest, progress, signal);
  const early = runtime.early as EarlyTemplate;
  if (stage === 'early') return early.prepare(guest, progress, signal);
  return early.goOn(guest, stage.from.facts, progress, signal);
}
