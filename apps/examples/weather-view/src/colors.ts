/** Reads the pixels of a screenshot. */
import type { Browser } from 'playwright-core'

/** Returns the shares of the pixels that have the blue of the view and the white of its text. */
export async function countColors(
  browser: Browser,
  image: Buffer,
): Promise<{ background: number; foreground: number }> {
  const blank = await browser.newPage()
  try {
    // The browser decodes the PNG.
    return (await blank.evaluate(`(async () => {
      const blob = await (await fetch('data:image/png;base64,${image.toString('base64')}')).blob()
      const bitmap = await createImageBitmap(blob)
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
      context.drawImage(bitmap, 0, 0)
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height)
      const part = (r, g, b) => {
        let count = 0
        for (let at = 0; at < data.length; at += 4) if (data[at] === r && data[at + 1] === g && data[at + 2] === b) count += 1
        return count / (data.length / 4)
      }
      return { background: part(0x1d, 0x4e, 0xd8), foreground: part(255, 255, 255) }
    })()`)) as { background: number; foreground: number }
  } finally {
    await blank.close()
  }
}
