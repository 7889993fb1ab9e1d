import { VmError } from '@lodge/ports';
import type { Image, ImageBuilder } from '@lodge/ports';

/** A builder reads each named recipe and keeps it; there are far fewer than this. It keeps nothing of installed versions. */
const maxRuntimes = 64;

/** A builder that remembers its images: an image that is named by its id has the files that were found here. */
export class KnownImages implements ImageBuilder {
  private readonly builder: ImageBuilder;
  /** As many as there are releases of runtimes in one life of a process. */
  private readonly images = new Map<string, Image>();

  private readonly runtimes = new Set<string>();

  constructor(builder: ImageBuilder) {
    this.builder = builder;
  }

  async idOf(runtime: string): Promise<string> {
    return this.builder.idOf(this.counted(runtime));
  }

  async find(runtime: string): Promise<Image | null> {
    const image = await this.builder.find(this.counted(runtime));
    return image && this.known(image);
  }

  async ensure(runtime: string, ...call: Tail<Parameters<ImageBuilder['ensure']>>): Promise<Image> {
    return this.known(await this.builder.ensure(this.counted(runtime), ...call));
  }

  /** Throws `VmError` for an image that was never found. */
  byId(id: string): Image {
    const image = this.images.get(id);
    if (!image) throw new VmError('failed', 'no image of that id was found here');
    return image;
  }

  private counted(image: string): string {
    const [runtime = image] = image.split('@', 1);
    if (!this.runtimes.has(runtime) && this.runtimes.size >= maxRuntimes) {
      throw new VmError('failed', 'too many runtimes were named');
    }
    this.runtimes.add(runtime);
    return image;
  }

  private known(image: Image): Image {
    this.images.set(image.id, image);
    return image;
  }
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;
