type Props = {
  /** `import photo from "./photo.jpg?picture"` */
  picture: { sources: Record<string, string>; img: { src: string; w: number; h: number } };
  /** What the picture shows. Empty if the text beside it says so, too. */
  alt: string;
  /** How wide the page shows it, such as `(max-width: 40rem) 100vw, 40rem`. Browsers choose the file by it. */
  sizes: string;
  /** For the largest picture that is visible without scrolling: it is loaded at once. Others are loaded when they get near. */
  isFirst?: boolean;
};

/** A picture that browsers load in the format and the width that they need. Its place is kept while it is loaded. */
export function Picture({ picture: { sources, img }, alt, sizes, isFirst = false }: Props) {
  return (
    <picture>
      {Object.entries(sources).map(([format, srcSet]) => (
        <source key={format} type={`image/${format}`} srcSet={srcSet} sizes={sizes} />
      ))}
      <img
        src={img.src}
        width={img.w}
        height={img.h}
        alt={alt}
        loading={isFirst ? "eager" : "lazy"}
        fetchPriority={isFirst ? "high" : "auto"}
        decoding="async"
      />
    </picture>
  );
}
