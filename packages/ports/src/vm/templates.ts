import type { GuestAddress } from '../guest/guest-address.ts';
import type { Image, ReportProgress } from './images.ts';
import type { RuntimeFacts } from './machine.ts';

/** A saved, warmed-up VM that agents are cloned from. Immutable. */
export interface Template {
  /** Hash over image, device layout, accelerator, emulator version and `TemplateRequest.variant`. */
  readonly id: string;
  readonly imageId: string;
  /**
   * The runtime's facts about the guest that it prepared (its gateway token, its suspension id ...). They are opaque to the
   * driver and stored in a 0600 file on the host.
   */
  readonly facts: RuntimeFacts;
  /** The variant of its request; absent from older templates. */
  readonly variant?: string;
  /** The host's pace when the template was made (`VmDriver.pace`); 1 when unknown. */
  readonly pace?: number;
}

export interface TemplateRequest {
  /** The image need not exist any more, because a template has the files of its image. */
  readonly image: Pick<Image, 'id'>;
  /** Version of the effect that `prepare` has on the guest, as a part of the template's identity. */
  readonly variant: string;
}

export interface TemplateBuild extends TemplateRequest {
  readonly image: Image;
  /** Port on `brokerHost` that the template's guest reaches at its fixed broker address (the warm-up stub, not the broker). */
  readonly brokerPort: number;
  /**
   * A template over the same image whose guest continues, instead of a guest that boots. The template stays as it is. Agents
   * are made from it meanwhile, so the continuing VM takes only the processor time that others leave.
   */
  readonly from?: Template;
  /**
   * Brings the guest at `address`, which has just booted or resumed, to the state that is saved. It runs until the very
   * moment before the save.
   */
  readonly prepare: (guest: GuestAddress, signal: AbortSignal) => Promise<RuntimeFacts>;
  readonly progress: ReportProgress;
}

/** Templates on this host: saved machines that are nobody's. */
export interface VmTemplates {
  /** Finds a template. Once the driver is started, a found template stays for VMs even if the cache is emptied. */
  findTemplate(request: TemplateRequest): Promise<Template | null>;
  /**
   * Returns the template of that id, current or not, because an agent's disk lies over the template that it was made from.
   */
  getTemplate(id: string): Promise<Template | null>;
  /**
   * Makes the template if it is absent. Concurrent builds of the same template join, across processes too. Rejects with
   * `template_missing` when `from` is missing.
   */
  buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template>;
  /**
   * Removes templates that are neither in `keep` nor under construction, with the images' disks that only they need. Returns
   * their ids.
   */
  collectTemplates(keep: ReadonlySet<string>): Promise<readonly string[]>;
}
