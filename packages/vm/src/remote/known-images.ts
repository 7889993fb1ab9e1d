import { VmError } from '@lodge/ports';
import type { Image, ImageBuilder } from '@lodge/ports';

/** A builder that remembers the images it gave: whoever names one by its id gets the files that were found here. */
export class KnownImages implements ImageBuilder {
  private readonly builder: ImageBuilder;
  /** As many as there are releases of runtimes in one life of a process. */
  private readonly images = new Map<string, Image>();

  constructor(builder: ImageBuilder) {
    this.builder = builder;
  }

  idOf(runtime: string): Promise<string> {
    return this.builder.idOf(runtime);
  }

  async find(runtime: string): Promise<Image | null> {
    const image = await this.builder.find(runtime);
    return image && this.known(image);
  }

  async ensure(...call: Parameters<ImageBuilder['ensure']>): Promise<Image> {
    return this.known(await this.builder.ensure(...call));
  }

  /** Throws `VmError` for one that was never found. */
  byId(id: string): Image {
    const image = this.images.get(id);
    if (!image) throw new VmError('failed', 'no image of that id was found here');
    return image;
  }

  private known(image: Image): Image {
    this.images.set(image.id, image);
    return image;
  }
}
